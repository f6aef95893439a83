//! What a person says in an editor, as the plain text that a run is given.

use agent_client_protocol::{
    Error,
    v1::schema::{ContentBlock, EmbeddedResourceResource},
};
use pointsman_runtime::attached::attached;

use super::error;

/// Returns the text of a prompt. Attachments are named by their source; anything but text is
/// rejected, because the model would not see it.
pub(super) fn text(prompt: &[ContentBlock]) -> Result<String, Error> {
    let mut text = String::new();
    for block in prompt {
        let part = part(block)?;
        // A link is part of a sentence; text with line breaks is a separate block.
        if part.contains('\n') && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&part);
    }
    if text.trim().is_empty() {
        return Err(error::bad_params("the prompt is empty"));
    }
    Ok(text)
}

fn part(block: &ContentBlock) -> Result<String, Error> {
    match block {
        ContentBlock::Text(text) => Ok(text.text.clone()),
        ContentBlock::ResourceLink(link) => Ok(format!("[{}]({})", link.name, link.uri)),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::TextResourceContents(contents) => {
                Ok(attached(&contents.uri, &contents.text))
            }
            EmbeddedResourceResource::BlobResourceContents(contents) => {
                let uri = &contents.uri;
                Err(error::bad_params(&format!("`{uri}` is not text; only text is supported")))
            }
            _ => Err(refused("a resource of this kind")),
        },
        ContentBlock::Image(_) => Err(refused("an image")),
        ContentBlock::Audio(_) => Err(refused("a recording")),
        _ => Err(refused("content of this kind")),
    }
}

fn refused(what: &str) -> Error {
    error::bad_params(&format!("{what} is not supported: send text, links or text files"))
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{
        BlobResourceContents, EmbeddedResource, ImageContent, ResourceLink, TextContent,
        TextResourceContents,
    };

    use super::*;

    fn said(text: &str) -> ContentBlock {
        ContentBlock::Text(TextContent::new(text))
    }

    fn refusal(block: ContentBlock) -> String {
        text(&[said("look: "), block]).expect_err("the prompt is refused").message
    }

    #[test]
    fn links_stay_inline_and_files_become_blocks() {
        let link = ContentBlock::ResourceLink(ResourceLink::new("a.rs", "file:///w/a.rs"));
        let file = TextResourceContents::new("x\n```\ny", "file:///w/b.md");
        let file = EmbeddedResourceResource::TextResourceContents(file);
        let file = ContentBlock::Resource(EmbeddedResource::new(file));
        let prompt = [said("Compare "), link, said(" with"), file, said("please")];
        assert_eq!(
            text(&prompt).expect("it is text"),
            "Compare [a.rs](file:///w/a.rs) with\nContents of file:///w/b.md:\n````\nx\n```\ny\n\
             ````\nplease"
        );
    }

    #[test]
    fn content_that_is_not_text_is_rejected() {
        let image = ContentBlock::Image(ImageContent::new("aGk=", "image/png"));
        assert_eq!(refusal(image), "an image is not supported: send text, links or text files");
        let blob = BlobResourceContents::new("aGk=", "file:///a.bin");
        let blob = EmbeddedResourceResource::BlobResourceContents(blob);
        assert_eq!(
            refusal(ContentBlock::Resource(EmbeddedResource::new(blob))),
            "`file:///a.bin` is not text; only text is supported"
        );
        let empty = text(&[said(" \n")]).expect_err("the prompt is refused");
        assert_eq!(empty.message, "the prompt is empty");
    }
}
