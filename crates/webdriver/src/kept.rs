//! Files that runs keep beside the journal: screenshots and hierarchies, by their names.

use std::{
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
};

use flate2::read::GzDecoder;
use pointsman_runtime::store::RunId;

use crate::{explore, form};

/// Bytes of a file that are read at most.
const MOST: u64 = 64 << 20;
/// Digits of the digest that a name begins with.
const DIGITS: usize = 16;

/// Returns whether a text is the name of such a file: a short digest, and what the content is.
pub fn is_name(text: &str) -> bool {
    text.split_once('.').is_some_and(|(digest, kind)| {
        digest.len() == DIGITS
            && digest.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
            && matches!(kind, "png" | "xml.gz")
    })
}

/// Returns the folders in which files of a run can be.
fn folders(journal: &Path, run: &RunId) -> [PathBuf; 2] {
    [explore::blobs(journal, run), form::pictures(journal, run)]
}

/// Reads a file of a run, unpacked; nothing if the run keeps none of that name.
pub fn read(journal: &Path, run: &RunId, name: &str) -> io::Result<Option<Vec<u8>>> {
    if !is_name(name) {
        return Ok(None);
    }
    for folder in folders(journal, run) {
        let file = match fs::File::open(folder.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file => file?,
        };
        let mut bytes = Vec::new();
        if Path::new(name).extension().is_some_and(|it| it == "gz") {
            GzDecoder::new(file).take(MOST).read_to_end(&mut bytes)?;
        } else {
            file.take(MOST).read_to_end(&mut bytes)?;
        }
        return Ok(Some(bytes));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_never_leave_the_folder() {
        assert!(is_name("0123456789abcdef.png") && is_name("0123456789abcdef.xml.gz"));
        for wrong in [
            "session.json",
            "../0123456789abcdef.png",
            "0123456789abcdef.svg",
            "0123456789ABCDEF.png",
            "0123456789abcde/.png",
            "0123456789abcdef.png/..",
            ".png",
            "",
        ] {
            assert!(!is_name(wrong), "{wrong}");
        }
    }
}
