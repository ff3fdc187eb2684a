// Draws everything, and anew when the window gets another width.
await drawFigures();
await drawFigures();  // those that a scroll bar has made narrower
let waiting = 0;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(drawFigures, 150);
});
for (const details of document.querySelectorAll("details")) details.addEventListener("toggle", drawFigures);
document.documentElement.dataset.drawn = "yes";
