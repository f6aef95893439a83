//! Pictures of the page, with or without what was typed.

use serde_json::{Value, json};

use super::{Browser, BrowserError};

/// Hides what fields hold, wherever a script reaches, and shows it again.
const VEIL: &str = "
const on = arguments[0];
const visit = root => {
  const holder = root.head || root.documentElement || root;
  let style = root.querySelector('style[data-veil]');
  if (on && !style && holder) {
    style = (root.ownerDocument || root).createElement('style');
    style.setAttribute('data-veil', '');
    style.textContent = 'input, textarea, [contenteditable], [contenteditable] * { -webkit-text-security: disc !important; } '
      + 'select, input:is([type=date], [type=time], [type=datetime-local], [type=month], [type=week], [type=number]), '
      + '[role=combobox]:not(input), [role=listbox] * { color: transparent !important; text-shadow: none !important; } '
      + 'input:is([type=radio], [type=checkbox]) { appearance: none !important; }';
    holder.append(style);
  } else if (!on && style) style.remove();
  for (const element of root.querySelectorAll('*')) {
    if (element.shadowRoot) visit(element.shadowRoot);
    if (element.localName === 'iframe') {
      let inner = null;
      try { inner = element.contentDocument; } catch { inner = null; }
      if (inner && inner.documentElement) visit(inner);
    }
  }
};
visit(document);";

impl Browser {
    /// Photographs what the window shows, as PNG.
    pub async fn screenshot(&self) -> Result<Vec<u8>, BrowserError> {
        self.raw("a picture of the page", || self.client.screenshot()).await
    }

    /// Photographs the page with what its fields hold blotted out.
    pub async fn veiled_screenshot(&self) -> Result<Vec<u8>, BrowserError> {
        self.script(VEIL, vec![json!(true)]).await?;
        let picture = self.screenshot().await;
        // The page must not stay veiled, whatever came of the picture.
        let _unveiled: Value = self.script(VEIL, vec![json!(false)]).await?;
        picture
    }
}
