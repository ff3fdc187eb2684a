// The run over time: panels under one another on one axis, and a strip at the bottom that zooms
// all of them.
const AXIS = 74;  // pixels kept for the labels on the left, so that all panels line up
const END = report.seconds;
const TIME_UNIT = END >= 2 ? [1, "s"] : END >= 2e-3 ? [1e3, "ms"] : [1e6, "us"];
const MOMENT_LABEL = `format(datum.value * ${TIME_UNIT[0]}, '.6~g') + ' ${TIME_UNIT[1]}'`;
const WIDTHS = {p50: 2.6, p99: 1.4, "p99.9": 0.7};  // where dashes tell lines apart
const PERCENTILES = {p50: [1, 0], p99: [5, 2], "p99.9": [1.5, 2]};

function steps(line, values, more) {
  const step = line.part.series.step.value;
  return values.map((value, i) => ({line: line.name, t: Math.min((i + 0.5) * step, END), value, ...more}));
}

function seriesOf(line) {
  return line.part.series[line.operation];
}

const DIES = "dies: ";

const PANELS = [];
function panel(title, rows, label, more = {}) {
  const known = rows.filter((row) => row.value !== null);
  if (known.some((row) => row.value > 0)) PANELS.push({title, rows: known, label, ...more});
}

panel("bandwidth (B/s)", LINES.flatMap((line) => steps(line, seriesOf(line).bandwidth)), NUMBER_LABEL,
  {lines: true});
panel(DASHED ? "latency: p50 thick, p99, p99.9 thin" : "latency: p50, p99 - -, p99.9 · ·", LINES.flatMap((line) =>
  Object.entries(seriesOf(line).latency || {}).flatMap(([percentile, values]) =>
    steps(line, values, {percentile}))), TIME_LABEL, {lines: true, log: true});
if (report.drive) {
  const drive = (name) => report.drive.time.map((t, i) => ({line: "drive", t, value: report.drive[name][i]}));
  panel("write amplification", drive("write_amplification"), NUMBER_LABEL);
  panel("free blocks", drive("free_blocks"), NUMBER_LABEL, {step: true});
  panel("moved by collection (B/s)", drive("collection"), NUMBER_LABEL);
  panel("units in the write buffer", drive("buffered"), NUMBER_LABEL);
}
if (report.utilisation_over_time) {
  const {time, resources} = report.utilisation_over_time;
  const begin = (i) => i > 0 ? time[i - 1] : 0;
  // Of each interval from its beginning on; the last one twice, to draw it to its end.
  const shares = (kinds) => kinds.flatMap(({name, values}) => [...values, values.at(-1)].map(
    (value, i) => ({line: name, t: begin(i), value})));
  const whole = (values) => values.reduce((all, value, i) => all + value * (time[i] - begin(i)), 0);
  const all = Object.entries(resources).map(([name, values]) => ({name, values}));
  const busiest = all.filter(({name}) => !name.startsWith(DIES))
    .sort((a, b) => whole(b.values) - whole(a.values)).slice(0, PALETTE.length);
  panel("busy: the busiest resources", shares(busiest), PERCENT_LABEL,
    {step: true, own: {domain: busiest.map(({name}) => name), range: PALETTE}});
  const works = all.filter(({name}) => name.startsWith(DIES))
    .map(({name, values}) => ({name: name.slice(DIES.length), values}));
  panel("what dies were busy with", shares(works), PERCENT_LABEL, {step: true, stacked: true,
    own: {domain: works.map(({name}) => name), range: works.map(({name}) => causeColour(`die busy: ${name}`))}});
}
panel("commands outstanding", report.parts.flatMap((part) => part.series.queue_depth.map((value, i) => ({
  line: part.name || "all", t: Math.min((i + 0.5) * part.series.step.value, END), value}))),
  NUMBER_LABEL, {parts: true});

const MOMENT = {field: "t", type: "quantitative"};
const PART_COLOURS = {
  domain: report.parts.map((part) => part.name || "all"),
  range: report.parts.map((part, i) => (LINES.find((line) => line.part === part) || {colour: PALETTE[i % PALETTE.length]}).colour)};

// Whether a line has a single value, which no line shows.
function hasPoint(rows) {
  const counts = new Map();
  for (const {line, percentile} of rows) counts.set(`${line} ${percentile}`, (counts.get(`${line} ${percentile}`) || 0) + 1);
  return [...counts.values()].includes(1);
}

function panelSpec({title, rows, label, lines, parts, log, step, own, stacked}, width, last) {
  const scale = lines ? LINE_COLOURS : PART_COLOURS;
  const legend = {orient: "top", title: null, offset: 0, padding: 0, columns: Math.floor(width / 110) || 1};
  const colour = own ? {field: "line", type: "nominal", scale: own, legend}
    : lines || (parts && report.parts.length > 1)
      ? {field: "line", type: "nominal", scale, legend: null} : {value: INK};
  const encoding = {
    x: {...MOMENT, scale: {domain: {param: "zoom"}, domainMin: 0, domainMax: END, nice: false},
      title: last ? "time since measurement began" : null,
      axis: {labels: last, ticks: last, labelExpr: MOMENT_LABEL, labelFlush: true, grid: true}},
    y: {field: "value", type: "quantitative", title: null, stack: stacked ? "zero" : null,
      scale: log ? {type: "log", nice: false} : {zero: true, nice: true},
      axis: {labelExpr: label, minExtent: AXIS, maxExtent: AXIS, tickCount: 4, labelOverlap: "greedy"}},
    color: colour,
    tooltip: [{field: "line", title: "of"}, {field: "t", title: "at (s)", format: ".6~g"},
      ...(log ? [{field: "percentile"}] : []), {field: "value", title, format: ".4~s"}],
  };
  const byPercentile = (ranges) => ({field: "percentile", type: "ordinal", legend: null,
    scale: {domain: Object.keys(ranges), range: Object.values(ranges)}});
  if (lines && DASHED) encoding.strokeDash = LINE_DASHES;
  else if (log) encoding.strokeDash = byPercentile(PERCENTILES);
  if (log && DASHED) encoding.strokeWidth = byPercentile(WIDTHS);
  return {
    width, height: log ? 150 : 84, data: {values: rows}, encoding,
    title: {text: title, anchor: "start", fontSize: 12, fontWeight: "normal", offset: 5, frame: "group",
      limit: width},
    mark: {type: stacked ? "area" : "line", clip: true, ...(stacked ? {} : {point: hasPoint(rows), ...(log && DASHED ? {} : {strokeWidth: 1.4})}), ...(step ? {interpolate: "step-after"} : {})},
  };
}

function overTimeSpec(whole) {
  const width = whole - AXIS - 22;
  const [first] = PANELS;
  const strip = {
    width, height: 34, data: {values: first.rows},
    params: [{name: "zoom", select: {type: "interval", encodings: ["x"],
      mark: {fill: INK, fillOpacity: 0.2, stroke: INK, strokeOpacity: 0.5}}}],
    title: {text: "drag to zoom, double click for all", anchor: "start", fontSize: 12,
      fontWeight: "normal", offset: 5, frame: "group", limit: width},
    mark: {type: "area", clip: true, opacity: 0.75, line: false},
    encoding: {
      x: {...MOMENT, scale: {domain: [0, END], nice: false}, title: null,
        axis: {labelExpr: MOMENT_LABEL, labelFlush: true, grid: false}},
      y: {field: "value", type: "quantitative", aggregate: "sum", title: null, stack: null,
        axis: {labels: false, ticks: false, domain: false, grid: false, minExtent: AXIS, maxExtent: AXIS}},
      color: {value: "#8795a5"},
    },
  };
  const panels = PANELS.map((one, i) => panelSpec(one, width, i === PANELS.length - 1));
  return {vconcat: [...panels, strip], spacing: 12, resolve: {scale: {color: "independent"}}};
}

if (PANELS.length)
  figure("over-time", "The run over time", LINE_LEGEND, overTimeSpec);
