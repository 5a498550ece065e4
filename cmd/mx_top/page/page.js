"use strict";
// The page: it asks for a view every so often and shows one part of it. All of it works by keys alone.

const byId = id => document.getElementById(id);
const tabs = ["load", "matrix", "waits", "requests"];
const themes = ["", "light", "dark"];
let view = null, current = "load", paused = false, chosen = "", row = 0, job = "", theme = 0, timer = 0;

function show(name) {
  current = name;
  for (const t of tabs) {
    byId(t).hidden = t !== name;
    byId("tab-" + t).setAttribute("aria-selected", String(t === name));
    byId("tab-" + t).tabIndex = t === name ? 0 : -1;
  }
  draw();
}

function draw() {
  if (!view) return;
  const jobs = [["", "all"], ...view.jobs.map(j => [j.id, `${j.command}, ${j.size} ranks, ${j.id.slice(0, 6)}`])];
  const select = byId("job");
  if (!jobs.some(j => j[0] === job)) job = "";
  if (select.dataset.of !== JSON.stringify(jobs)) {
    select.replaceChildren(...jobs.map(j => element("option", { value: j[0] }, j[1])));
    select.dataset.of = JSON.stringify(jobs);
  }
  select.value = job;
  const endpoints = view.endpoints.filter(e => !job || e.job === job);
  const names = new Set(endpoints.map(keyOf));
  const sum = endpoints.reduce((a, e) => [a[0] + e.sent, a[1] + e.sent_bytes], [0, 0]);
  byId("summary").textContent = `${count(endpoints.length, "endpoint")}, ${count(view.jobs.length, "job")}: ${short(sum[0])} messages/s, ${bytes(sum[1])}/s`;
  if (current === "load") drawLoad(endpoints);
  if (current === "matrix") { readMatrix(view, job); drawMatrix(); }
  if (current === "waits") {
    drawGraph(view.jobs.find(j => j.id === job) || view.jobs.find(j => j.steps.some(s => s.cycle)) || view.jobs[0]);
    drawBlocked(names);
  }
  if (current === "requests") drawRequests(view.requests.filter(q => names.has(q.pid + " " + q.endpoint)));
}

const endpointColumns = [
  { title: "rank", of: e => e.rank < 0 ? "-" : e.rank }, { title: "endpoint", left: true, of: e => e.name }, { title: "pid", of: e => e.pid },
  { title: "sent/s", of: e => short(e.sent) }, { title: "received/s", of: e => short(e.received) },
  { title: "sent", of: e => bytes(e.sent_bytes) + "/s" }, { title: "received", of: e => bytes(e.received_bytes) + "/s" },
  { title: "posted", of: e => e.posted }, { title: "pending", of: e => e.pending }, { title: "unexpected", of: e => e.unexpected },
  { title: "unexpected memory", of: e => bytes(e.unexpected_bytes), bad: e => e.unexpected_bound > 0 && e.unexpected_bytes > .9 * e.unexpected_bound },
  { title: "oldest", of: e => e.oldest ? age(e.oldest) : "-" },
  { title: "transports", left: true, of: e => e.transports }, { title: "command", left: true, of: e => e.command },
];

function drawLoad(endpoints) {
  if (!history.has(chosen)) chosen = "";
  byId("chosen").textContent = chosen ? chosen.replace(/^\S+ /, "") : "all endpoints";
  drawCharts(chosen);
  row = Math.max(0, Math.min(row, endpoints.length - 1));
  fill(byId("endpoints"), endpointColumns, endpoints, (tr, e) => {
    tr.dataset.key = keyOf(e);
    tr.classList.toggle("chosen", keyOf(e) === chosen);
    tr.addEventListener("click", () => choose(keyOf(e)));
  });
  const at = byId("endpoints").tBodies[0].rows[row];
  if (at) at.classList.add("at");
}

function choose(key) { chosen = chosen === key ? "" : key; draw(); }

function drawBlocked(names) {
  const rows = view.silent.map(s => ({ from: "process " + s.pid + (s.ranks.length ? ", rank " + s.ranks.join(", ") : ""), to: "", requests: "", oldest: 0, stage: "", peer: s.error, bad: true }))
    .concat(view.blocked.filter(b => names.has(b.pid + " " + b.from)).map(b => ({ ...b, requests: `${b.count}${b.more ? " or more" : ""} ${b.kind}`, bad: b.cycle })));
  fill(byId("blocked"), [{ title: "endpoint", left: true, of: b => b.from }, { title: "waits for", left: true, of: b => b.to },
    { title: "requests", left: true, of: b => b.requests }, { title: "for", of: b => b.oldest ? age(b.oldest) : "" },
    { title: "stage", left: true, of: b => b.stage }, { title: "which", left: true, of: b => b.peer, bad: b => b.bad }], rows.slice(0, 200));
}

const ageClasses = [[.1, "under 0.1 s"], [1, "to 1 s"], [10, "to 10 s"], [60, "to 1 min"], [600, "to 10 min"], [Infinity, "more"]];

function drawRequests(requests) {
  const counts = ageClasses.map((c, i) => requests.filter(q => q.age < c[0] && (i === 0 || q.age >= ageClasses[i - 1][0])).length), most = Math.max(1, ...counts);
  byId("ages").setAttribute("aria-label", "requests by age: " + counts.map((n, i) => `${n} ${ageClasses[i][1]}`).join(", "));
  byId("ages").replaceChildren(...counts.map((n, i) => {
    const bar = element("i");
    bar.style.height = 60 * n / most + "px";
    return element("div", {}, String(n), bar, ageClasses[i][1]);
  }));
  fill(byId("pending"), [{ title: "age", of: q => age(q.age) }, { title: "endpoint", left: true, of: q => q.endpoint }, { title: "kind", left: true, of: q => q.kind },
    { title: "peer", left: true, of: q => q.peer || "anyone" }, { title: "match", of: q => q.match }, { title: "mask", of: q => q.mask },
    { title: "bytes", of: q => q.bytes }, { title: "waits for", left: true, of: q => q.stage }], requests.slice(0, 300));
}

async function look() {
  clearTimeout(timer);
  if (!paused && !document.hidden) {
    try {
      const answer = await fetch("view.json"), body = await answer.json();
      if (!answer.ok) throw new Error(body.error || answer.statusText);
      view = body;
      remember(view);
      problem(view.silent.map(s => s.error).join("; "));
      draw();
    } catch (e) {
      problem(e instanceof TypeError ? "mx_top does not answer: it has ended" : e.message);
    }
  }
  timer = setTimeout(look, 1000);
}

function problem(text) {
  byId("problem").hidden = !text;
  if (byId("problem").textContent !== text) byId("problem").textContent = text;
}

function pause() {
  paused = !paused;
  byId("pause").setAttribute("aria-pressed", String(paused));
}

function turnTheme() {
  theme = (theme + 1) % themes.length;
  if (themes[theme]) document.documentElement.dataset.theme = themes[theme]; else delete document.documentElement.dataset.theme;
  byId("theme").firstChild.textContent = themes[theme] ? themes[theme] + " " : "theme ";
  draw();
}

function nextJob() {
  if (!view) return;
  const all = ["", ...view.jobs.map(j => j.id)];
  job = all[(all.indexOf(job) + 1) % all.length];
  draw();
}

function moveInTable(key) {
  const rows = byId("endpoints").tBodies[0].rows;
  if (key === "ArrowDown") row = Math.min(row + 1, rows.length - 1);
  else if (key === "ArrowUp") row = Math.max(row - 1, 0);
  else if (key === "Enter" && rows[row]) { choose(rows[row].dataset.key); return true; }
  else if (key === "Escape") chosen = "";
  else return false;
  draw();
  const at = byId("endpoints").tBodies[0].rows[row];
  if (at) at.scrollIntoView({ block: "nearest" });
  return true;
}

addEventListener("keydown", e => {
  if (e.ctrlKey || e.altKey || e.metaKey || e.target.tagName === "SELECT") return;
  const button = e.target.tagName === "BUTTON" && (e.key === "Enter" || e.key === " ");
  if (button) return; // the button's own
  if (e.target.getAttribute && e.target.getAttribute("role") === "tab" && (e.key === "ArrowLeft" || e.key === "ArrowRight")) {
    show(tabs[(tabs.indexOf(current) + (e.key === "ArrowRight" ? 1 : tabs.length - 1)) % tabs.length]);
    byId("tab-" + current).focus();
  } else if (e.key >= "1" && e.key <= "4") show(tabs[e.key - 1]);
  else if (e.key === "p") pause();
  else if (e.key === "t") turnTheme();
  else if (e.key === "j") nextJob();
  else if (!(current === "load" && moveInTable(e.key)) && !(current === "matrix" && moveInMatrix(e.key)) && !(current === "waits" && moveInGraph(e.key))) return;
  e.preventDefault();
});
for (const t of tabs) byId("tab-" + t).addEventListener("click", () => show(t));
byId("pause").addEventListener("click", pause);
byId("theme").addEventListener("click", turnTheme);
byId("job").addEventListener("change", e => { job = e.target.value; draw(); });
addEventListener("resize", draw);
addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
show("load");
look();
