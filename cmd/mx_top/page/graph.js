"use strict";
// The hang report of a job as a graph.

let selected = 0, shown = null;

function drawGraph(job) {
  shown = job || null;
  const svg = document.getElementById("graph"), side = 640;
  svg.setAttribute("viewBox", `0 0 ${side} ${side}`);
  list("verdict", job ? job.verdict : ["no job of package mpi was found"]);
  list("groups", job ? job.groups : []);
  document.getElementById("age").textContent = job ? `${job.command}, ${job.size} ranks, as they were ${age(job.age)} ago` : "";
  if (!job) { svg.replaceChildren(); document.getElementById("node").textContent = ""; return; }
  const n = job.ranks.length, radius = Math.max(7, Math.min(22, Math.PI * 290 / Math.max(4, n) - 2)), far = side / 2 - radius - 4;
  const place = i => { const a = 2 * Math.PI * i / n - Math.PI / 2; return n === 1 ? [side / 2, side / 2] : [side / 2 + far * Math.cos(a), side / 2 + far * Math.sin(a)]; };
  const defs = element("defs", {}, marker("arrow", ""), marker("arrow-cycle", "cycle"));
  const edges = [...job.steps].sort((a, b) => a.cycle - b.cycle).map(s => {
    const [x, y] = place(s.from), [u, v] = place(s.to), length = Math.hypot(u - x, v - y) || 1;
    const dx = (u - x) / length, dy = (v - y) / length, bend = Math.min(40, length / 8); // two that wait for each other have two arrows
    const [sx, sy, ex, ey] = [x + dx * radius, y + dy * radius, u - dx * (radius + 6), v - dy * (radius + 6)];
    return element("path", { class: s.cycle ? "cycle" : "", "marker-end": `url(#${s.cycle ? "arrow-cycle" : "arrow"})`,
      d: `M${sx.toFixed(1)} ${sy.toFixed(1)} Q${((sx + ex) / 2 - dy * bend).toFixed(1)} ${((sy + ey) / 2 + dx * bend).toFixed(1)} ${ex.toFixed(1)} ${ey.toFixed(1)}` },
      element("title", {}, `rank ${s.from} waits for rank ${s.to} in ${s.why}`));
  });
  selected = Math.min(selected, n - 1);
  const nodes = job.ranks.map((r, i) => {
    const [x, y] = place(i), gone = !["waits", "not blocked in an MPI call"].includes(r.state);
    const g = element("g", { class: (gone ? "gone" : r.state) + (i === selected ? " at" : ""), "data-rank": r.rank },
      element("title", {}, `rank ${r.rank}: ${(r.lines || [r.state]).join("; ")}`),
      element("circle", { cx: x, cy: y, r: radius }), element("text", { x, y }, String(r.rank)));
    g.addEventListener("click", () => { selected = i; drawGraph(shown); });
    return g;
  });
  svg.replaceChildren(defs, ...edges, ...nodes);
  const r = job.ranks[selected];
  const text = r ? `rank ${r.rank}, ${r.pid ? "process " + r.pid + ", " + r.endpoint : "not found on this host"}\n${(r.lines || []).join("\n")}` : "";
  const line = document.getElementById("node");
  if (line.textContent !== text) line.textContent = text;
}

function marker(id, kind) {
  return element("marker", { id, class: kind, viewBox: "0 0 8 8", refX: 4, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto", markerUnits: "userSpaceOnUse" },
    element("path", { d: "M0 0L8 4L0 8z" }));
}

function list(id, lines) {
  document.getElementById(id).replaceChildren(...lines.map(l =>
    element("li", { class: /^(deadlock|mismatch|never ends)/.test(l) ? "bad" : "" }, l)));
}

function moveInGraph(key) {
  if (!shown || !shown.ranks.length) return false;
  const n = shown.ranks.length;
  if (key === "ArrowRight" || key === "ArrowDown") selected = (selected + 1) % n;
  else if (key === "ArrowLeft" || key === "ArrowUp") selected = (selected + n - 1) % n;
  else return false;
  drawGraph(shown);
  return true;
}
