//! Text attached to a person's message: a file, or piped input.

/// Returns a text with its source, between fences that are not in it.
pub fn attached(source: &str, text: &str) -> String {
    let mut fence = String::from("```");
    while text.contains(&fence) {
        fence.push('`');
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("Contents of {source}:\n{fence}\n{text}{end}{fence}\n")
}
