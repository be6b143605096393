// The parts of a page that are the same for every database.
#pragma once

namespace exactbloom::tool {

inline constexpr char kPageStyle[] = R"(
:root { color-scheme: light dark; --text: #1b1f24; --faint: #57606a; --line: #d0d7de;
  --ground: #ffffff; --band: #f6f8fa; --bad: #b3261e; --link: #0b57d0; --bar: #ffe3bf; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --faint: #9da7b1; --line: #3d444d; --ground: #0d1117; --band: #161b22;
    --bad: #ff8a80; --link: #7cacf8; --bar: #4a3413; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--ground);
  max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .4rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 0; } h3 + p { margin-top: .2rem; }
.answer { font-size: 1.15rem; } .faint { color: var(--faint); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; min-width: 100%; overflow-wrap: normal; }
th, td { padding: .3rem .6rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }
td:not([data-value]) { text-align: left; white-space: normal; max-width: 20rem;
  overflow-wrap: break-word; }
#curves td:nth-child(2) { white-space: nowrap; }
td[style] { background: linear-gradient(to left, var(--bar) var(--part), transparent 0); }
thead th { background: var(--band); white-space: normal; vertical-align: bottom; min-width: 5.5rem; }
th.text { text-align: left; }
tr.bad td { color: var(--bad); font-weight: 600; }
summary { cursor: pointer; padding: .3rem 0; }
.copy { position: relative; }
pre { background: var(--band); border: 1px solid var(--line); border-radius: .3rem; padding: .8rem;
  overflow-x: auto; margin: .4rem 0; }
button { font: inherit; color: var(--text); background: var(--band); padding: .2rem .8rem;
  border: 1px solid var(--line); border-radius: .3rem; cursor: pointer; }
.copy button { position: absolute; top: .45rem; right: .45rem; background: var(--ground); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.warning { border-left: 4px solid var(--bad); padding-left: .8rem; }
@media (max-width: 40rem) {
  .copy button { position: static; margin-bottom: .4rem; }
  table { font-size: .85rem; } th, td { padding: .3rem; } thead th { min-width: 0; }
  td:first-child { max-width: 8rem; overflow-wrap: anywhere; }
  :is(#runs, #families) :is(th, td):nth-last-child(n+2):nth-last-child(-n+5) { display: none; } }
)";

// Buttons that copy the text above them; without a clipboard they select it.
inline constexpr char kPageScript[] = R"(
for (const pre of document.querySelectorAll('pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', 'Copy: ' + pre.dataset.what);
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = 'Copied';
    } catch (error) {
      getSelection().selectAllChildren(pre);
      button.textContent = 'Selected';
    }
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  pre.after(button);
}
)";

}  // namespace exactbloom::tool
