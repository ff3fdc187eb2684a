// Figures of a run's report: each has a place on the page, a legend, and a specification for
// Vega-Lite that is made anew when the place's width changes.
const report = pageData.report;
// What is not a cause or a load is drawn in the page's colour of text, which follows its light or dark scheme.
const INK = "currentColor";
const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK];
const DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]];
const SEQUENTIAL = {scheme: "viridis"};

const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
const digits = (value) => String(Number(value.toPrecision(3)));

function timeText(ns) {
  const [factor, unit] = TIMES.find(([size]) => Math.abs(ns) >= size) || TIMES.at(-1);
  return `${digits(ns / factor)} ${unit}`;
}
const percentText = (share) => `${share >= 0.0995 || share === 0 ? Math.round(share * 100)
  : digits(Math.round(share * 1000) / 10)} %`;

// Labels of axes, as expressions of Vega.
const TIME_LABEL = "datum.value >= 1e9 ? format(datum.value / 1e9, '.12~g') + ' s'"
  + " : datum.value >= 1e6 ? format(datum.value / 1e6, '.12~g') + ' ms'"
  + " : datum.value >= 1e3 ? format(datum.value / 1e3, '.12~g') + ' us'"
  + " : format(datum.value, '.12~g') + (datum.value == 0 ? '' : ' ns')";
const NUMBER_LABEL = "format(datum.value, datum.value >= 1e4 ? '.3~s' : '.12~g')";
const PERCENT_LABEL = "format(100 * datum.value, '.12~g') + ' %'";

// Every load and operation, with its results: "read", or "oltp read".
const LINES = report.parts.flatMap((part) => Object.entries(part.operations).map(
  ([operation, results]) => ({
    name: part.name ? `${part.name} ${operation}` : operation, part, operation, results})));
LINES.forEach((line, i) => {
  line.colour = PALETTE[i % PALETTE.length];
  line.dash = DASHES[Math.floor(i / PALETTE.length) % DASHES.length];
});
const LINE_COLOURS = {
  domain: LINES.map((line) => line.name), range: LINES.map((line) => line.colour)};
// Where there are more lines than colours, their dashes tell them apart, too.
const DASHED = LINES.length > PALETTE.length;
const LINE_DASHES = {field: "line", type: "nominal", legend: null,
  scale: {domain: LINE_COLOURS.domain, range: LINES.map((line) => line.dash)}};
const LINE_LEGEND = Object.fromEntries(LINES.map((line) =>
  [line.name, DASHED ? [line.colour, line.dash] : line.colour]));

const CONFIG = {
  font: "system-ui, 'DejaVu Sans', sans-serif",
  background: "transparent",
  view: {stroke: null},
  axis: {
    labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 200,
    titleLimit: 320, titleColor: INK, labelColor: INK, gridColor: INK, gridOpacity: 0.13,
    domainColor: INK, domainOpacity: 0.5, tickColor: INK, tickOpacity: 0.5, labelOverlap: true},
  legend: {labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", titleLimit: 320,
    titleColor: INK, labelColor: INK},
  title: {color: INK},
  text: {fontSize: 12, color: INK},
};

// Black or white, whichever can be read on the colour.
function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  return 0.299 * r + 0.587 * g + 0.114 * b > 0.55 ? "#111111" : "#ffffff";
}

function element(kind, properties, ...children) {
  const made = Object.assign(document.createElement(kind), properties);
  made.append(...children);
  return made;
}

// A line as it is drawn, for a legend.
function sample(colour, dash) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "line"));
  for (const [name, value] of [["width", 30], ["height", 8], ["class", "sample"]]) svg.setAttribute(name, value);
  for (const [name, value] of [["x1", 0], ["x2", 30], ["y1", 4], ["y2", 4], ["stroke", colour], ["stroke-width", 2.5],
    ["stroke-dasharray", dash.join(" ")]]) line.setAttribute(name, value);
  return svg;
}

// Names beside squares in their colours, or beside lines in their [colour, dash].
function legendOf(colours) {
  const items = Object.entries(colours).map(([name, colour]) => {
    if (Array.isArray(colour)) return element("li", {}, sample(...colour), name);
    const square = element("span");
    square.style.background = colour;
    return element("li", {}, square, name);
  });
  return element("ul", {className: "legend"}, ...items);
}

const figures = [];
// Adds a figure to a section of the page; `spec(width)` describes it at that width in pixels.
function figure(section, caption, legend, spec) {
  if (!document.getElementById(section)) return;  // of which nothing was measured
  const place = element("div", {className: "chart", id: `figure-${figures.length + 1}`, role: "img"});
  place.setAttribute("aria-label", caption);
  document.getElementById(section).append(
    element("figure", {}, element("figcaption", {textContent: caption}), legendOf(legend), place));
  figures.push({place, spec, width: 0});
}

// Draws each figure at the width of its place, or at one that is given.
async function drawFigures(given) {
  for (const one of figures) {
    const width = given && one.place.clientWidth ? given : Math.floor(one.place.clientWidth);
    if (width === one.width || width === 0) continue;
    one.width = width;
    const spec = {config: CONFIG, padding: 2, ...one.spec(width)};
    if (!spec.vconcat) Object.assign(spec, {width, autosize: {type: "fit-x", contains: "padding"}});
    await window.vegaEmbed(one.place, spec, {actions: false, renderer: "svg", tooltip: {theme: "light"}});
  }
}
