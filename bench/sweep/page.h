// What stands in every page: its look, and the sorting of its tables.
#pragma once

namespace exactbloom::sweep {

inline constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --ground: #fdfdfb; --ink: #1b1d21; --quiet: #62676f;
  --rule: #dcdcd6; --stripe: #f4f4ef; --card: #ffffff; --accent: #1f78d1; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14161a; --ink: #e7e8ea; --quiet: #9aa0a9; --rule: #32363d;
    --stripe: #1b1e23; --card: #1a1d22; --accent: #6db3ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2.5rem 1.25rem 5rem; }
h1 { font-size: 2.1rem; line-height: 1.15; margin: 0 0 .4rem; letter-spacing: -.015em; }
h2 { font-size: 1.35rem; margin: 3.2rem 0 .6rem; padding-top: .8rem;
  border-top: 1px solid var(--rule); }
.subtitle, figcaption, .caption { color: var(--quiet); font-size: .92rem; }
nav { margin: 1.2rem 0; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; font-size: .92rem; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
.answers { background: var(--card); border: 1px solid var(--rule);
  border-left: 4px solid var(--accent); border-radius: 6px; padding: 1rem 1.4rem 1rem 2.4rem; }
.answers li { margin: .35rem 0; }
figure { margin: 1.4rem 0; background: var(--card); border: 1px solid var(--rule);
  border-radius: 6px; padding: 1rem; }
figure svg { display: block; width: 100%; height: auto; color: var(--ink); }
figcaption { margin-top: .5rem; }
.scroll { overflow-x: auto; margin: 0 0 1.4rem; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums;
  min-width: 60%; }
.caption { margin: 1.6rem 0 .4rem; max-width: 60rem; }
th, td { padding: .28rem .6rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child, td.text, th.text { text-align: left; }
thead th { border-bottom: 2px solid var(--rule); position: sticky; top: 0;
  background: var(--ground); vertical-align: bottom; }
thead button { all: unset; cursor: pointer; font-weight: 600; }
thead button:focus-visible { outline: 2px solid var(--accent); }
th[aria-sort] button::after { content: " \2195"; opacity: .35; }
th[aria-sort="ascending"] button::after { content: " \2191"; opacity: 1; }
th[aria-sort="descending"] button::after { content: " \2193"; opacity: 1; }
tbody tr:nth-child(even) { background: var(--stripe); }
tbody tr:hover { outline: 1px solid var(--accent); outline-offset: -1px; }
td.colour { white-space: normal; min-width: 7rem; text-align: left; border-left: 5px solid var(--curve);
  background: color-mix(in srgb, var(--curve) 22%, transparent); }
code { font: .92em ui-monospace, "DejaVu Sans Mono", monospace; background: var(--stripe);
  border-radius: 3px; padding: .05em .3em; overflow-wrap: anywhere; }
@media print {
  :root { color-scheme: light; --ground: #fff; --ink: #000; --quiet: #444; --rule: #bbb;
    --stripe: #f3f3f3; --card: #fff; }
  body { font-size: 10pt; } main { max-width: none; padding: 0; } nav { display: none; }
  figure, tr, .answers { break-inside: avoid; } h2 { break-after: avoid; }
  thead { display: table-header-group; } thead th { position: static; }
  thead button::after { content: "" !important; } .scroll { overflow: visible; }
  table { font-size: 7.5pt; } td, th { padding: .15rem .3rem; } td.colour, tbody tr {
    print-color-adjust: exact; } }
)css";

// A click on a heading sorts; so does #sort=<table>:<column>, with :desc behind it downwards.
inline constexpr const char* kScript = R"js(
(function () {
  'use strict';
  function compare(a, b) {
    if (a === b) return 0;
    if (a === null) return 1;
    if (b === null) return -1;
    return a < b ? -1 : 1;
  }
  function sort(table, column, direction) {
    var body = table.tBodies[0];
    var rows = Array.prototype.map.call(body.rows, function (row) {
      return {row: row, value: JSON.parse(row.cells[column].dataset.value)};
    });
    rows.sort(function (a, b) {
      if (a.value === null || b.value === null) return compare(a.value, b.value);
      return direction === 'descending' ? compare(b.value, a.value) : compare(a.value, b.value);
    });
    rows.forEach(function (entry) { body.appendChild(entry.row); });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, i) {
      head.setAttribute('aria-sort', i === column ? direction : 'none');
    });
  }
  Array.prototype.forEach.call(document.querySelectorAll('table'), function (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, column) {
      head.querySelector('button').addEventListener('click', function () {
        var up = head.getAttribute('aria-sort') === 'ascending';
        sort(table, column, up ? 'descending' : 'ascending');
      });
    });
  });
  function follow() {
    var wish = /^#sort=([\w-]+):(\d+)(:desc)?$/.exec(location.hash);
    var table = wish && document.getElementById(wish[1]);
    if (table) sort(table, Number(wish[2]), wish[3] ? 'descending' : 'ascending');
  }
  window.addEventListener('hashchange', follow);
  follow();
})();
)js";

}  // namespace exactbloom::sweep
