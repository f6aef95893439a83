  // Reports what a page shows, as facts: it decides nothing and changes nothing. It walks the
  // document, its open shadow roots and the frames of the same origin, and what it returns is
  // `Look` in Rust, where what a fact means can be tested without a browser.
  //
  // Here: what is looked for, and words.
  const MOST_CONTROLS = 2000, MOST_OPTIONS = 600, MOST_WORDS = 600, MOST_SAID = 400;
  const NATIVE = "input, textarea, select";
  const ROLES = "[role=combobox], [role=listbox], [role=checkbox], [role=radio], "
    + "[role=textbox], [role=searchbox], [role=spinbutton], [role=switch], [role=slider]";
  const EDITABLE = "[contenteditable=''], [contenteditable=true], [contenteditable=plaintext-only]";
  const PRESSED = "button, input[type=submit i], input[type=button i], input[type=image i], "
    + "input[type=reset i], [role=button], summary, a, [onclick]";
  const HEADINGS = "h1, h2, h3, h4, h5, h6, [role=heading], legend";
  const SILENT = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "SELECT", "TEXTAREA",
    "OPTION", "DATALIST", "SVG", "IFRAME", "OBJECT", "BUTTON", "INPUT"]);
  const INLINE = new Set(["B", "I", "EM", "STRONG", "U", "FONT", "MARK", "BDI", "WBR"]);
  const CAPTCHAS = [
    ["recaptcha", "iframe[src*='recaptcha'], .g-recaptcha, [class*='g-recaptcha']"],
    ["hcaptcha", "iframe[src*='hcaptcha'], .h-captcha"],
    ["turnstile", "iframe[src*='challenges.cloudflare'], .cf-turnstile"],
    ["captcha", "iframe[src*='captcha'], iframe[title*='captcha' i], [data-sitekey]"],
  ];

  const controls = [], places = [], said = [], captchas = [], alerts = [];
  const placeOf = new Map();
  let order = 0;

  // Characters that draw nothing would part words that people read as one.
  const squeeze = (text, most = MOST_WORDS) => (text || "")
    .replace(/[\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]/g, "")
    .replace(/[\s\u00a0]+/g, " ").trim().slice(0, most);
  const matches = (element, selector) => element.matches(selector);
  const attribute = (element, name) => element.getAttribute(name) || "";
  const styleOf = (element) => element.ownerDocument.defaultView.getComputedStyle(element);
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true });

  // The text of an element, without what its controls hold and without what is not shown.
  function words(root, most = MOST_WORDS, all = false) {
    let text = "";
    const walk = (node) => {
      if (text.length > most * 2) return;
      if (node.nodeType === 3) text += node.data;
      if (node.nodeType !== 1) return;
      if (node !== root && SILENT.has(node.tagName.toUpperCase())) { text += " "; return; }
      if (node !== root && !all && styleOf(node).display === "none") return;
      const gap = INLINE.has(node.tagName) ? "" : " ";
      text += gap;
      for (const child of node.childNodes) walk(child);
      text += gap;
    };
    walk(root);
    return squeeze(text, most);
  }

  const byIds = (element, name) => attribute(element, name).split(/\s+/).filter(Boolean)
    .map((id) => element.getRootNode().getElementById(id)).filter(Boolean);
  const textOfIds = (element, name) => squeeze(byIds(element, name).map((e) => words(e)).join(" "));
