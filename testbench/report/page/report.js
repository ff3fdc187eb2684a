// Sections of which nothing was measured: a table of heads alone, no figure.
for (const head of document.querySelectorAll("h2")) {
  const parts = [];
  for (let one = head.nextElementSibling; one && one.tagName !== "H2"; one = one.nextElementSibling) parts.push(one);
  const empty = (one) => one.matches(".grid:empty, noscript") ||
    (one.matches(".scroll") && one.querySelectorAll("tr").length < 2);
  if (parts.length && parts.some((one) => !one.matches("noscript")) && parts.every(empty)) [head, ...parts].forEach((one) => one.remove());
}

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
