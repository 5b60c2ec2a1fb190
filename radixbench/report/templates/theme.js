// The theme follows the system until the reader chooses one; the choice stays with this browser.
// A printed page shows everything that is folded on the screen.
(() => {
  const root = document.documentElement;
  const stored = () => { try { return localStorage.getItem("radixbench-theme"); } catch { return null; } };
  const store = (theme) => { try { localStorage.setItem("radixbench-theme", theme); } catch { /* private window */ } };
  const shown = () => root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const wished = stored();
  if (wished === "dark" || wished === "light") root.dataset.theme = wished;
  addEventListener("beforeprint", () => {
    for (const closed of document.querySelectorAll("details")) closed.open = true;
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
