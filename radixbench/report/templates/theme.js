// What a page does apart from its figures. The theme follows the system until the reader chooses one; the choice stays
// with this browser. A printed page shows what is folded on the screen. A menu closes once it has been used.
(() => {
  const root = document.documentElement;
  const stored = () => { try { return localStorage.getItem("radixbench-theme"); } catch { return null; } };
  const store = (theme) => { try { localStorage.setItem("radixbench-theme", theme); } catch { /* private window */ } };
  const shown = () => root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const wished = stored();
  if (wished === "dark" || wished === "light") root.dataset.theme = wished;
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("main details:not([open])")];
    for (const closed of folded) closed.open = true;
  });
  addEventListener("afterprint", () => {
    for (const closed of folded) closed.open = false;
    folded = [];
  });
  const menus = () => document.querySelectorAll(".top details[open]");
  const close = (but) => { for (const menu of menus()) if (menu !== but) menu.open = false; };
  document.addEventListener("click", (event) => close(event.target.closest(".top summary")?.parentElement));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    document.activeElement.closest(".top details[open]")?.querySelector("summary").focus();
    close();
  });
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const name = () => { button.textContent = shown() === "dark" ? "Light theme" : "Dark theme"; };
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = shown() === "dark" ? "light" : "dark";
      store(root.dataset.theme);
      name();
    });
    name();
  });
})();
