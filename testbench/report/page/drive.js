// The drive's side: how deep the queues were, what was busy, how worn and how full the blocks are.

// At most `most` bars of [whole value, weight] pairs, each of equally many values and in the middle
// of them.
function binned(pairs, most) {
  const values = pairs.map(([value]) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const size = Math.max(1, Math.ceil((high - low + 1) / most));
  const bins = new Map();
  for (const [value, weight] of pairs) {
    const from = low + Math.floor((value - low) / size) * size;
    bins.set(from, (bins.get(from) || 0) + weight);
  }
  return [...bins].map(([from, weight]) => ({
    from: from - 0.5, to: from + size - 0.5, weight,
    label: size === 1 ? `${from}` : `${from} to ${from + size - 1}`}));
}

// Upright bars with their numbers on them, where these have room.
function histogramSpec(rows, width, {x, y, text, axis, percent = false, domain}) {
  const span = domain[1] - domain[0];
  const room = (width - 90) / Math.max(1, span) * (rows[0].to - rows[0].from);
  const told = rows.map((row) => ({...row, text: text(row.weight), middle: (row.from + row.to) / 2}));
  const fits = told.filter((row) => row.text !== "0 %" && row.weight > 0 && 7.5 * row.text.length <= room);
  const vertical = {field: "weight", type: "quantitative", title: y,
    scale: {domain: [0, 1.15 * Math.max(...rows.map((row) => row.weight))], nice: false},
    axis: {tickCount: 4, labelExpr: percent ? PERCENT_LABEL : NUMBER_LABEL}};
  return {
    height: 190,
    layer: [
      {data: {values: told}, mark: {type: "rect", color: PALETTE[0], stroke: "#ffffff", strokeWidth: 0.5},
        encoding: {
          x: {field: "from", type: "quantitative", title: x, scale: {domain, nice: false},
            axis: {grid: false, ...axis}},
          x2: {field: "to"}, y: vertical, y2: {datum: 0},
          tooltip: [{field: "label", title: x}, {field: "text", title: y}]}},
      {data: {values: fits}, mark: {type: "text", dy: -7, tooltip: null},
        encoding: {x: {field: "middle", type: "quantitative"}, y: vertical, text: {field: "text"}}},
    ],
  };
}

// An axis of whole numbers, with a tick every `size` of them.
function wholeAxis([from, to], width) {
  const size = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000]
    .find((step) => (to - from) / step <= Math.max(3, width / 50)) || Math.ceil((to - from) / 5);
  const values = [];
  for (let at = Math.ceil(from / size) * size; at <= to; at += size) values.push(at);
  return {values, format: ",d", grid: false};
}
const domainOf = (rows) => [
  Math.min(...rows.map((row) => row.from)), Math.max(...rows.map((row) => row.to))];

for (const part of report.parts) {
  const depths = part.queue_depth.share_of_time_at_depth;
  if (!depths.length) continue;
  const of = part.name ? ` of ${part.name}` : "";
  figure("queues", `Commands outstanding${of}: share of the time, ${digits(part.queue_depth.mean)} on average`,
    {}, (width) => {
      const rows = binned(depths, Math.min(40, Math.floor(width / 14)));
      return histogramSpec(rows, width, {x: "commands outstanding", y: "share of the time", percent: true,
        text: percentText, axis: wholeAxis(domainOf(rows), width), domain: domainOf(rows)});
    });
}

// ---- what was busy

function utilisationSpec(width) {
  const rows = report.utilisation.map(({label, shares}) => {
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    const [low, high] = [Math.min(...shares), Math.max(...shares)];
    return {label: shares.length > 1 ? `${label} (${shares.length})` : label, mean, low, high,
      several: high > low, text: percentText(mean)};
  });
  const most = 1 / (1 - 48 / Math.max(120, 0.58 * width));  // room for the numbers behind the bars
  const y = {field: "label", type: "nominal", sort: null, title: null,
    axis: {ticks: false, domain: false, labelLimit: 0.42 * width, labelOverlap: false}};
  const x = (field) => ({field, type: "quantitative", title: null, scale: {domain: [0, most], nice: false},
    axis: {labelExpr: PERCENT_LABEL, values: [0, 0.25, 0.5, 0.75, 1]}});
  const tooltip = ["label", "mean", "low", "high"].map((field) => ({field, format: field === "label" ? "" : ".1%"}));
  return {
    height: 24 * rows.length, data: {values: rows},
    layer: [
      {mark: {type: "bar", color: PALETTE[5], height: {band: 0.7}}, encoding: {y, x: x("mean"), tooltip}},
      {transform: [{filter: "datum.several"}], mark: {type: "rule", strokeWidth: 2, color: INK},
        encoding: {y, x: x("low"), x2: {field: "high"}}},
      {transform: [{calculate: "max(datum.mean, datum.high)", as: "end"}],
        mark: {type: "text", align: "left", dx: 5, tooltip: null},
        encoding: {y, x: x("end"), text: {field: "text"}}},
    ],
  };
}
if (END > 0 && report.utilisation.length)
  figure("busy", "Share of the time that each resource is busy: the mean of several, and a line from the least to the most",
    {}, utilisationSpec);

// Cells with a scale, their values on hover, and on them where there is room.
function heatMapSpec(cells, width, {x, y, value, format, height, cellWidth, share = false}) {
  const legend = {orient: "top", title: value, gradientLength: Math.min(220, width - 60), gradientThickness: 10,
    format, tickCount: 4, labelFlush: true};
  const range = share ? {domain: [0, 1]} : {};
  const domain = (from, to) => [
    Math.min(...cells.map((cell) => cell[from])), Math.max(...cells.map((cell) => cell[to]))];
  const [across, down] = [domain("x", "x2"), domain("y", "y2")];
  const xAt = {field: "x", type: "quantitative", title: x,
    scale: {nice: false, zero: false, domain: across}, axis: wholeAxis(across, width)};
  const yAt = {field: "y", type: "quantitative", title: y,
    scale: {nice: false, zero: false, domain: down, reverse: true}, axis: wholeAxis(down, 2.5 * height)};
  const layer = [{
    mark: {type: "rect", stroke: "#ffffff", strokeWidth: cellWidth > 8 ? 1 : 0},
    encoding: {x: xAt, x2: {field: "x2"}, y: yAt, y2: {field: "y2"},
      color: {field: "value", type: "quantitative", scale: {...SEQUENTIAL, ...range}, legend},
      tooltip: [{field: "name", title: "of"}, {field: "value", title: value, format}]}}];
  const cellHeight = height * (cells[0].y2 - cells[0].y) / (down[1] - down[0]);
  if (cellWidth >= 40 && cellHeight >= 12) {
    const values = cells.map((cell) => cell.value);
    const middle = share ? 0.5 : (Math.min(...values) + Math.max(...values)) / 2;
    layer.push({
      transform: [{calculate: "(datum.x + datum.x2) / 2", as: "cx"}, {calculate: "(datum.y + datum.y2) / 2", as: "cy"}],
      mark: {type: "text", tooltip: null},
      encoding: {x: {field: "cx", type: "quantitative"}, y: {field: "cy", type: "quantitative"},
        text: {field: "value", format},
        color: {condition: {test: `datum.value > ${middle}`, value: "#111111"}, value: "#ffffff"}}});
  }
  return {height, data: {values: cells}, layer};
}

if (END > 0 && report.dies) {
  const {columns, shares} = report.dies;
  const lines = Math.ceil(shares.length / columns);
  const cells = shares.map((value, i) => {
    const [x, y] = [i % columns, Math.floor(i / columns)];
    return {x: x - 0.5, x2: x + 0.5, y: y - 0.5, y2: y + 0.5, value, name: `die ${i}`};
  });
  figure("dies", "Share of the time that each die is busy", {}, (width) =>
    heatMapSpec(cells, width, {x: "die of its channel", y: "channel", value: "busy", format: ".0%", share: true,
      height: Math.min(420, Math.max(50, 26 * lines)), cellWidth: (width - 70) / columns}));
}

// ---- blocks

function blockCells(values, {parallel_units_per_line: units, blocks_per_column: blocks}) {
  const range = (at, many) => (many === 1 ? `${at}` : `${at} to ${at + many - 1}`);
  return values.flatMap((line, y) => line.map((value, x) => ({
    x: x * blocks - 0.5, x2: (x + 1) * blocks - 0.5, y: y * units - 0.5, y2: (y + 1) * units - 0.5, value,
    name: `block ${range(x * blocks, blocks)} of parallel unit ${range(y * units, units)}`})));
}

if (report.blocks) {
  const {by_erases: erases, by_valid: valid, map} = report.blocks;
  figure("wear", "Blocks by how often they have been erased", {}, (width) => {
    const rows = binned(erases, Math.min(40, Math.floor(width / 14)));
    return histogramSpec(rows, width, {x: "erases", y: "blocks", text: String, axis: wholeAxis(domainOf(rows), width), domain: domainOf(rows)});
  });
  if (valid.some((blocks) => blocks > 0))
    figure("wear", `Written blocks by the share of their data that is valid; ${report.blocks.free} blocks are free`,
      {}, (width) => histogramSpec(
        valid.map((weight, i) => ({from: i / 20, to: (i + 1) / 20, weight, label: `${i * 5} to ${i * 5 + 5} %`})),
        width, {x: "valid", y: "blocks", text: String, domain: [0, 1],
          axis: {labelExpr: PERCENT_LABEL, labelFlush: true}}));
  const maps = [["erases", "Erases of each block", "erases", ",.4~f", false],
    ["valid", "Valid share of each block's data", "valid", ".0%", true]];
  for (const [name, caption, value, format, share] of maps)
    figure("blocks", map.blocks_per_column * map.parallel_units_per_line === 1 ? caption
      : `${caption}; a cell is the mean of ${map.blocks_per_column * map.parallel_units_per_line}`,
      {}, (width) => heatMapSpec(blockCells(map[name], map), width, {
        x: "block of its parallel unit", y: "parallel unit", value, format, share,
        height: Math.min(420, Math.max(60, 12 * map[name].length)), cellWidth: (width - 70) / map[name][0].length}));
}
