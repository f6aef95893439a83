//! The style sheet of a report, by light and by dark.

/// What a report looks like. Nothing of it is loaded from elsewhere.
pub(super) const SHEET: &str = "\
:root{color-scheme:light dark;--paper:#fff;--ink:#1b2733;--faint:#566373;--line:#d5dce4;--soft:#f5f7fa;--bad:#b42318;--badsoft:#fdeaea;--warn:#b4540f;--link:#1f5fb8}
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--faint:#9aa7b4;--line:#30363d;--soft:#161b22;--bad:#f5a3a3;--badsoft:#3a1719;--warn:#ee9457;--link:#79b0ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif}
main{max-width:1180px;margin:0 auto;padding:28px 24px 60px}
h1{font-size:26px;margin:0 0 4px}
h2{font-size:19px;margin:40px 0 12px;padding-top:8px;border-top:1px solid var(--line)}
h3{font-size:15px;margin:0 0 6px}
p{margin:4px 0}
a{color:var(--link)}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;font-size:13px;background:var(--soft);padding:1px 4px;border-radius:4px}
nav a{margin-right:14px}
.faint{color:var(--faint)}
.bad{color:var(--bad)}
.warn{color:var(--warn)}
.figures{display:flex;flex-wrap:wrap;gap:12px;margin:18px 0}
.figures div{border:1px solid var(--line);border-radius:8px;padding:10px 12px;flex:1 1 96px}
.figures b{display:block;font-size:22px;line-height:1.2}
.scroll{overflow:auto;max-height:80vh;border:1px solid var(--line);border-radius:8px}
.scroll svg{display:block}
.wrong{border:1px solid var(--line);border-left:4px solid var(--bad);border-radius:8px;padding:12px 16px;margin:12px 0}
.wrong.end{border-left-color:var(--warn)}
ol{margin:6px 0;padding-left:26px}
.screens{display:grid;grid-template-columns:repeat(auto-fill,minmax(255px,1fr));gap:12px}
.screen{display:flex;gap:12px;border:1px solid var(--line);border-radius:8px;padding:10px;min-width:0}
.screen>div{min-width:0;overflow-wrap:anywhere}
.screen svg{flex:none}
.screen p{font-size:13px}
table{border-collapse:collapse;width:100%;font-size:13px}
th,td{text-align:left;padding:4px 10px 4px 0;border-bottom:1px solid var(--line);vertical-align:top}
td.number,th.number{text-align:right;white-space:nowrap}
tr.down td{background:var(--badsoft)}
summary{cursor:pointer;margin:6px 0}
";
