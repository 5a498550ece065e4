"use strict";
// Charts of what the page has seen: it remembers, and the server does not.

const remembered = 120;
const history = new Map(); // by endpoint and process; "" is the sum

function remember(view) {
  const sum = { sent: 0, received: 0, sentBytes: 0, receivedBytes: 0, posted: 0, pending: 0, unexpected: 0 };
  const seen = new Set([""]);
  for (const e of view.endpoints) {
    const point = { sent: e.sent, received: e.received, sentBytes: e.sent_bytes, receivedBytes: e.received_bytes,
      posted: e.posted, pending: e.pending, unexpected: e.unexpected };
    for (const key in sum) sum[key] += point[key];
    seen.add(keyOf(e));
    push(keyOf(e), point);
  }
  push("", sum);
  for (const key of history.keys()) if (!seen.has(key)) history.delete(key);
}

function push(key, point) {
  const list = history.get(key) || [];
  list.push(point);
  if (list.length > remembered) list.shift();
  history.set(key, list);
}

function keyOf(e) { return e.pid + " " + e.name; }

function drawCharts(key) {
  const list = history.get(key) || [];
  chart("chart-rate", "rate-legend", list, [["sent", "sent", "a"], ["received", "received", "b"]], short);
  chart("chart-band", "band-legend", list, [["sentBytes", "sent", "a"], ["receivedBytes", "received", "b"]], x => bytes(x) + "/s");
  chart("chart-depth", "depth-legend", list, [["posted", "posted", "a"], ["unexpected", "unexpected", "b"], ["pending", "pending", "c"]], short);
}

function chart(id, legend, list, series, text) {
  const svg = document.getElementById(id), width = svg.clientWidth || 300, height = 120, top = 14;
  const most = Math.max(1e-9, ...list.flatMap(p => series.map(s => p[s[0]])));
  const x = i => width - (list.length - 1 - i) * width / (remembered - 1);
  const y = v => height - 2 - (height - top - 4) * v / most;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren(
    element("line", { class: "axis", x1: 0, x2: width, y1: height - 1, y2: height - 1 }),
    element("line", { class: "axis", x1: 0, x2: width, y1: y(most), y2: y(most) }),
    element("text", { x: 2, y: 10 }, most < 1e-6 ? "0" : text(most)),
    ...series.map(s => element("polyline", { class: s[2], points: list.map((p, i) => x(i).toFixed(1) + "," + y(p[s[0]]).toFixed(1)).join(" ") })));
  const last = list[list.length - 1];
  document.getElementById(legend).replaceChildren(...series.map(s =>
    element("span", { class: s[2] }, ` ${s[1]} ${last ? text(last[s[0]]) : "-"}`)));
}
