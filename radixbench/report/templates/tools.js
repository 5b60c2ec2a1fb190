// The buttons under a figure: zoom in, out and back, and save it as SVG, PNG or CSV. Everything is made of what is on
// the page, as it is shown: nothing is fetched. Without scripts there are no buttons.
(() => {
  const SELECTION = "zoom";
  const SCALE = 2;

  // The axes a chart may be zoomed along, by the signal that holds each one's ends.
  const axes = (view) => {
    try {
      return view.signal(`${SELECTION}_tuple_fields`).map(({ channel, field }) => ({ channel, signal: `${SELECTION}_${field}` }));
    } catch {
      return [];
    }
  };
  const zoomed = (scale, by) => {
    const log = scale.type === "log";
    const [low, high] = scale.domain().map((end) => (log ? Math.log(end) : Number(end)));
    const middle = (low + high) / 2;
    const half = ((high - low) / 2) * by;
    return [middle - half, middle + half].map((end) => (log ? Math.exp(end) : end));
  };
  const zoom = (view, by) => {
    for (const { channel, signal } of axes(view)) view.signal(signal, by === null ? null : zoomed(view.scale(channel), by));
    return view.runAsync();
  };

  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // The picture with its colours spelled out, on paper, with its summary as title.
  const picture = async (plot, view) => {
    const source = view ? await view.toSVG() : plot.querySelector(".still svg").outerHTML;
    const coloured = source.replace(/var\((--[\w-]+)\)/g, (_whole, name) => colour(name));
    const svg = new DOMParser().parseFromString(coloured, "image/svg+xml").documentElement;
    const made = (tag, attributes, text = "") => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      element.textContent = text;
      return element;
    };
    svg.prepend(made("title", {}, plot.getAttribute("aria-label")), made("rect", { width: "100%", height: "100%", fill: colour("--paper") }));
    return { size: ["width", "height"].map((side) => Number(svg.getAttribute(side))), text: new XMLSerializer().serializeToString(svg) };
  };
  const encoded = (text) => btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
  const painted = async ({ size, text }) => {
    const image = new Image();
    image.src = `data:image/svg+xml;base64,${encoded(text)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = size.map((side) => Math.ceil(side * SCALE));
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => { canvas.toBlob(done, "image/png"); });
  };
  // A text that a spreadsheet would take for a formula is set off by an apostrophe.
  const field = (text) => `"${(/^[=@\t\r]|^[+-](?![\d.])/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  const table = (figure) =>
    [...figure.querySelectorAll(".grid table tr")]
      .map((row) => [...row.cells].map((cell) => field(cell.textContent)).join(","))
      .join("\r\n") + "\r\n";

  const wire = (plot, view) => {
    const tools = plot.parentElement.querySelector(".tools");
    const key = plot.dataset.panel;
    const does = {
      in: () => zoom(view, 0.5),
      out: () => zoom(view, 2),
      reset: () => zoom(view, null),
      svg: async () => save(new Blob([(await picture(plot, view)).text], { type: "image/svg+xml" }), `${key}.svg`),
      png: async () => save(await painted(await picture(plot, view)), `${key}.png`),
      csv: (button) => save(new Blob([table(plot.closest(".figure"))], { type: "text/csv" }), `${button.dataset.name}.csv`),
    };
    for (const button of tools.querySelectorAll("button")) button.addEventListener("click", () => does[button.dataset.do](button));
    tools.querySelector(".zooming").hidden = !view || axes(view).length === 0;
    tools.hidden = false;
  };
  document.addEventListener("drawn", (event) => wire(event.target, event.detail));
})();
