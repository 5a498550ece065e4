"use strict";
// The matrix of who sends to whom.

const cursor = { row: 0, column: 0 };
let members = [], talk = new Map();

function readMatrix(view, job) {
  const ranks = view.endpoints.filter(e => e.rank >= 0 && (!job || e.job === job));
  const all = ranks.length ? ranks : view.endpoints;
  members = all.map(e => ({ name: e.name, label: ranks.length ? String(e.rank) : e.name.replace(/^.*:/, "") }));
  const places = new Map(members.map((m, i) => [m.name, i]));
  talk = new Map();
  for (const p of view.talk) {
    const from = places.get(p.from), to = places.get(p.to);
    if (from !== undefined && to !== undefined) talk.set(from * members.length + to, p);
  }
}

function drawMatrix() {
  const canvas = document.getElementById("cells"), n = members.length, style = getComputedStyle(document.documentElement);
  const margin = 34, room = Math.min(innerWidth - 40, Math.max(420, innerHeight - 230)) - margin;
  const size = Math.max(7, Math.min(36, Math.floor(room / Math.max(1, n)))), side = margin + n * size + 1, ratio = devicePixelRatio || 1;
  canvas.width = canvas.height = side * ratio;
  canvas.style.width = canvas.style.height = side + "px";
  const g = canvas.getContext("2d");
  g.scale(ratio, ratio);
  g.fillStyle = style.getPropertyValue("--raised");
  g.fillRect(margin, margin, n * size, n * size);
  const most = Math.max(1, ...Array.from(talk.values(), p => p.rate));
  const ever = Math.max(1, ...Array.from(talk.values(), p => p.frames));
  for (const [at, p] of talk) {
    const share = p.rate > 0 ? .25 + .75 * Math.log1p(p.rate) / Math.log1p(most) : .12 * Math.log1p(p.frames) / Math.log1p(ever);
    g.fillStyle = `rgba(${style.getPropertyValue("--cell")}, ${share})`;
    g.fillRect(margin + (at % n) * size, margin + Math.floor(at / n) * size, size - (size > 4 ? 1 : 0), size - (size > 4 ? 1 : 0));
  }
  g.strokeStyle = style.getPropertyValue("--line");
  g.strokeRect(margin + .5, margin + .5, n * size, n * size);
  g.fillStyle = style.getPropertyValue("--quiet");
  g.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  const every = [1, 2, 4, 8, 16, 32, 64].find(k => k * size >= 18) || 64;
  g.textBaseline = "middle";
  for (let i = 0; i < n; i += every) {
    g.textAlign = "right";
    g.fillText(members[i].label, margin - 4, margin + (i + .5) * size);
    g.textAlign = "center";
    g.fillText(members[i].label, margin + (i + .5) * size, margin - 8);
  }
  if (n === 0) return tell("no endpoint is open");
  cursor.row = Math.min(cursor.row, n - 1);
  cursor.column = Math.min(cursor.column, n - 1);
  g.strokeStyle = style.getPropertyValue("--two");
  g.lineWidth = 2;
  g.strokeRect(margin + cursor.column * size - 1, margin + cursor.row * size - 1, size + 1, size + 1);
  const p = talk.get(cursor.row * n + cursor.column), from = members[cursor.row], to = members[cursor.column];
  tell(`${from.label} (${from.name}) to ${to.label} (${to.name}): ` +
    (p ? `${short(p.rate)} frames/s, ${p.frames} in all, over ${p.transport || "nothing"}${p.failure ? ", no link: " + p.failure : ""}` : "nothing"));
}

function tell(text) {
  const line = document.getElementById("cell");
  if (line.textContent !== text) line.textContent = text;
}

function moveInMatrix(key) {
  const n = members.length, step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key];
  if (!step || n === 0) return false;
  cursor.row = (cursor.row + step[0] + n) % n;
  cursor.column = (cursor.column + step[1] + n) % n;
  drawMatrix();
  return true;
}
