// Puts a live chart in the place of each still one; where that fails, the still one stays.
(async () => {
  const text = (id) => document.getElementById(id).textContent;
  const unpack = async (packed) => {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const bubble = document.createElement("div");
  bubble.className = "bubble";
  bubble.hidden = true;
  bubble.setAttribute("aria-hidden", "true");
  document.body.append(bubble);
  const tooltip = (_handler, event, _item, value) => {
    bubble.hidden = value === null || value === undefined || value === "";
    if (bubble.hidden) return;
    bubble.textContent = typeof value === "object" ? Object.values(value).join(", ") : String(value);
    const room = document.documentElement.clientWidth - bubble.offsetWidth - 8;
    bubble.style.left = `${Math.max(8, Math.min(event.clientX + 12, room))}px`;
    bubble.style.top = `${Math.max(8, event.clientY - bubble.offsetHeight - 12)}px`;
  };
  const draw = async (plot, spec) => {
    const still = plot.querySelector(".still");
    const live = plot.querySelector(".live");
    live.hidden = false;
    still.hidden = true;
    try {
      await vegaEmbed(live, spec, { actions: false, renderer: "svg", tooltip, ast: false });
      plot.dataset.drawn = "live";
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
    const specs = JSON.parse(text("specs"));
    for (const plot of document.querySelectorAll(".plot")) await draw(plot, specs[plot.dataset.panel]);
  } catch (error) {
    console.warn(`radixbench: figures stay still pictures: ${error}`);
  }
  document.documentElement.dataset.ready = "yes";
})();
