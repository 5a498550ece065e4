"use strict";
// Numbers and tables.

function short(x) {
  if (x === 0) return "0";
  if (x < 10) return x.toFixed(1);
  for (const [limit, unit] of [[1e4, ""], [1e6, "k"], [1e9, "M"], [Infinity, "G"]]) {
    if (x < limit) return (unit === "" ? x.toFixed(0) : (x / { k: 1e3, M: 1e6, G: 1e9 }[unit]).toFixed(1) + unit);
  }
}

function count(n, what) { return n + " " + what + (n === 1 ? "" : "s"); }

function bytes(x) { return x < 1e3 ? x.toFixed(0) + " B" : short(x).replace("k", " k").replace("M", " M").replace("G", " G") + "B"; }

function age(s) {
  if (s < 10) return s.toFixed(1) + " s";
  if (s < 120) return s.toFixed(0) + " s";
  return s < 7200 ? (s / 60).toFixed(0) + " min" : (s / 3600).toFixed(1) + " h";
}

// element makes an element of what is on this page only: texts never become markup.
function element(name, attributes, ...children) {
  const svg = ["svg", "g", "path", "circle", "text", "line", "polyline", "title", "defs", "marker"].includes(name);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

// fill writes rows into a table, and keeps the row that the cursor is on.
function fill(table, columns, rows, each) {
  table.tHead.replaceChildren(element("tr", {}, ...columns.map(c => element("th", { class: c.left ? "l" : "", scope: "col" }, c.title))));
  table.tBodies[0].replaceChildren(...rows.map(r => {
    const tr = element("tr", {}, ...columns.map(c => element("td", { class: (c.left ? "l" : "") + (c.bad && c.bad(r) ? " bad" : "") }, String(c.of(r)))));
    if (each) each(tr, r);
    return tr;
  }));
}
