//! The search index against real files.

use std::fs;

use pointsman_runtime::tool::fts::Index;

use crate::store::TempFolder;

#[test]
fn the_index_follows_the_files() {
    let folder = TempFolder::new("fts");
    let root = folder.0.join("docs");
    fs::create_dir_all(root.join("deep")).expect("the folder is created");
    let write =
        |name: &str, text: &str| fs::write(root.join(name), text).expect("the file is written");
    write("a.md", "# Trains\n\nThe pointsman sets the track.\nNobody else does.\n");
    write("deep/b.md", "A signal stands at every track.\n");
    write(".gitignore", "secret.md\n");
    write("secret.md", "The track to the treasure.\n");
    fs::write(root.join("binary.dat"), [0_u8, 159, 146, 150]).expect("the file is written");
    let mut index = Index::open(&folder.0.join("cache/search.db")).expect("the index opens");
    index.refresh(&root).expect("the file is indexed");
    let found = |index: &Index, query: &str| -> Vec<String> {
        index.search(query).expect("it searches").iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        found(&index, "Which pointsman sets tracks?")[0],
        "a.md:3: The pointsman sets the track. Nobody else does."
    );
    assert_eq!(found(&index, "track").len(), 2, "what is ignored is not found");
    assert!(found(&index, "treasure").is_empty());
    // Nothing in a query is an operator, and nothing in it can fail.
    for odd in ["", "\"", "a AND", "NEAR(", "col:x", "*", "the of", "tr\u{0}ack", "日本"] {
        index.search(odd).unwrap_or_else(|error| panic!("{odd:?}: {error}"));
    }
    write("a.md", "# Ships\n\nThe helmsman steers the boat.\n");
    fs::remove_file(root.join("deep/b.md")).expect("the file existed and is removed");
    index.refresh(&root).expect("the file is indexed");
    assert!(found(&index, "track").is_empty());
    assert_eq!(found(&index, "helmsmen"), Vec::<String>::new());
    assert_eq!(found(&index, "helmsman"), ["a.md:3: The helmsman steers the boat."]);
}
