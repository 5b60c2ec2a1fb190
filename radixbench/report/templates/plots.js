// Puts a live chart in the place of each still one; where that fails, the still one stays.
// Hovering shows a mark's text in a bubble; with the keyboard the arrow keys go from mark to mark, and each text is told
// to screen readers. A chart that is drawn says so by the event "drawn", with its view.
(async () => {
  const text = (id) => document.getElementById(id).textContent;
  const unpack = async (packed) => {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const made = (name, attributes) => {
    const element = document.createElement("div");
    element.className = name;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    document.body.append(element);
    return element;
  };
  const bubble = made("bubble", { "aria-hidden": "true", hidden: "" });
  const told = made("hidden", { role: "status", "aria-live": "polite" });
  const words = (value) => (typeof value === "object" ? Object.values(value).join(", ") : String(value));
  const hide = () => { bubble.hidden = true; };
  const show = (value, x, y) => {
    bubble.textContent = words(value);
    bubble.hidden = false;
    const room = document.documentElement.clientWidth - bubble.offsetWidth - 8;
    bubble.style.left = `${Math.max(8, Math.min(x + 12, room))}px`;
    bubble.style.top = `${Math.max(8, y - bubble.offsetHeight - 12)}px`;
  };
  const nothing = (value) => value === null || value === undefined || value === "";
  const tooltip = (_handler, event, _item, value) => {
    if (nothing(value)) hide();
    else show(value, event.clientX, event.clientY);
  };
  addEventListener("scroll", hide, { passive: true });

  const place = (mark) => {
    const { left, top, width, height } = mark.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  };
  // Marks with a text, those that zooming moved out of sight left out, from left to right.
  const marks = (live) => {
    const { left, right } = live.getBoundingClientRect();
    return [...live.querySelectorAll("svg path, svg rect, svg text, svg line")]
      .filter((mark) => !nothing(mark.__data__?.tooltip))
      .map((mark) => ({ mark, ...place(mark) }))
      .filter(({ x }) => x >= left && x <= right)
      .sort((a, b) => a.x - b.x || a.y - b.y);
  };
  const steps = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
  const walk = (plot, live) => {
    let at = -1;
    const leave = () => { hide(); live.querySelector(".walked")?.classList.remove("walked"); };
    plot.tabIndex = 0;
    plot.setAttribute("aria-keyshortcuts", "ArrowLeft ArrowRight Home End");
    plot.addEventListener("blur", leave);
    plot.addEventListener("keydown", (event) => {
      if (event.key === "Escape") leave();
      if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
      const found = marks(live);
      if (!found.length) return;
      event.preventDefault();
      at = Math.max(0, Math.min(found.length - 1, at + steps[event.key]));
      leave();
      const { mark, x, y } = found[at];
      mark.classList.add("walked");
      show(mark.__data__.tooltip, x, y);
      told.textContent = words(mark.__data__.tooltip);
    });
  };
  const draw = async (plot, spec) => {
    const still = plot.querySelector(".still");
    const live = plot.querySelector(".live");
    live.hidden = false;
    still.hidden = true;
    try {
      const { view } = await vegaEmbed(live, spec, { actions: false, renderer: "svg", tooltip, ast: false });
      plot.dataset.drawn = "live";
      walk(plot, live);
      plot.dispatchEvent(new CustomEvent("drawn", { detail: view, bubbles: true }));
    } catch (error) {
      live.hidden = true;
      still.hidden = false;
      plot.dataset.drawn = "still";
      console.warn(`radixbench: ${plot.dataset.panel} stays a still picture: ${error}`);
    }
  };
  try {
    const script = document.createElement("script");
    script.textContent = await unpack(text("runtime"));
    document.head.append(script);
    const specs = JSON.parse(await unpack(text("specs")));
    for (const plot of document.querySelectorAll(".plot")) await draw(plot, specs[plot.dataset.panel]);
  } catch (error) {
    console.warn(`radixbench: figures stay still pictures: ${error}`);
  }
  document.documentElement.dataset.ready = "yes";
})();
