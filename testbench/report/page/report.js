// Draws everything, and anew when the window gets another width.
await drawFigures();
await drawFigures();  // those that a scroll bar has made narrower
let waiting = 0;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(drawFigures, 150);
});
for (const details of document.querySelectorAll("details")) details.addEventListener("toggle", () => drawFigures());
// On paper, as wide as A4 between the margins of @page.
addEventListener("beforeprint", () => drawFigures(680));
addEventListener("afterprint", () => drawFigures());
document.documentElement.dataset.drawn = "yes";
