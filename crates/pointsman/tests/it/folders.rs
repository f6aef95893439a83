//! Resuming: each folder has its own conversations, and so has each agent.

use crate::{home::Home, terminal::Terminal};

const MODEL: [&str; 2] = ["--model", "script:script.toml"];

fn says(home: &Home, text: &str) {
    home.write("script.toml", &format!("[[turn]]\ntext = '{text}'\n"));
}

/// A home with a conversation in each of two folders, and work that failed in the first.
fn home(name: &str) -> Home {
    let home = Home::new(name);
    home.write("one/a.txt", "a\n");
    home.write("two/b.txt", "b\n");
    for folder in ["one", "two"] {
        says(&home, &format!("Hello from {folder}."));
        let first = format!("We are in {folder}");
        let chat = [&["chat", "-p", &first, "--dir", folder][..], &MODEL].concat();
        let (code, out, err) = home.pointsman(&chat);
        assert_eq!(code, 0, "{out}{err}");
    }
    home.write("script.toml", "[[turn]]\nfault = { class = 'forbidden', message = 'no key' }\n");
    let code = [&["run", "code", "Fail", "--dir", "one"][..], &MODEL].concat();
    assert_ne!(home.pointsman(&code).0, 0);
    home
}

#[test]
fn newest_conversation_of_folder_and_agent_is_resumed() {
    let home = home("per-folder");
    for folder in ["one", "two"] {
        says(&home, "Again.");
        let more = ["chat", "-p", "--dir", folder, "--resume", "last", "and more"];
        let (code, out, err) = home.pointsman(&[&more[..], &MODEL].concat());
        assert_eq!((code, out.as_str()), (0, "Again.\n"), "{err}");
        let (_, out, _) = home.pointsman(&["show", "last", "--json"]);
        let goal = format!("\"goal\":\"We are in {folder}\"");
        assert!(out.contains(&goal) && out.contains("and more"), "{out}");
    }
    let docs = ["chat", "-p", "--dir", "docs", "--resume", "last", "and more"];
    let (code, _, err) = home.pointsman(&[&docs[..], &MODEL].concat());
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("no conversation with `chat` in"), "{err}");
    assert!(err.contains("--list --all"), "{err}");
}

#[test]
fn the_list_names_folder_agent_age_state_and_first_words() {
    let home = home("listed");
    let (code, out, err) = home.pointsman(&["chat", "--list", "--dir", "two"]);
    assert_eq!((code, out.lines().count()), (0, 2), "{out}{err}");
    assert!(
        out.starts_with("RUN") && out.contains("FOLDER") && out.contains("FIRST WORDS"),
        "{out}"
    );
    assert!(out.contains("/two") && out.contains("We are in two") && out.contains("chat"), "{out}");
    let (_, out, _) = home.pointsman(&["chat", "--list", "--all"]);
    assert_eq!(out.lines().count(), 4, "{out}");
    assert!(out.contains("/one") && out.contains("Fail") && out.contains("code"), "{out}");
    let (_, out, err) = home.pointsman(&["chat", "--list", "--dir", "docs"]);
    assert!(out.is_empty() && err.contains("`--all` lists every folder"), "{out}{err}");
    let (_, out, _) = home.pointsman(&["chat", "--list", "--all", "--json"]);
    assert!(out.lines().all(|line| line.contains("\"dir\":\"/")), "{out}");
}

#[test]
fn a_run_without_a_name_is_one_of_this_folder() {
    let home = home("resume-here");
    home.write(
        "script.toml",
        "[[turn]]\ncalls = [{ tool = 'write', arguments = { path = 'x.txt', content = 'x' } }]\n\
         [[turn]]\ntext = 'Written.'\n",
    );
    for folder in ["one", "two"] {
        let run = [&["run", "chat", "Write", "--dir", folder][..], &MODEL].concat();
        assert_eq!(home.pointsman(&run).0, 3);
    }
    assert_eq!(home.pointsman(&["approve", "last"]).0, 0);
    let shown = home.within("docs", &["resume"]);
    assert_eq!(shown.code, Some(2), "{}", shown.err);
    assert!(shown.err.contains("can be resumed"), "{}", shown.err);
    says(&home, "Written.");
    let shown = home.within("two", &["resume"]);
    assert_eq!(shown.code, Some(0), "{}{}", shown.out, shown.err);
    assert!(home.path("two/x.txt").exists() && !home.path("one/x.txt").exists());
}

#[test]
fn one_of_several_is_chosen_on_a_terminal() {
    let home = home("chosen");
    says(&home, "Here too.");
    let chat = [&["chat", "-p", "Another one", "--dir", "one"][..], &MODEL].concat();
    assert_eq!(home.pointsman(&chat).0, 0);
    says(&home, "Back.");
    let resume = [&["chat", "--resume", "--dir", "one"][..], &MODEL].concat();
    let terminal = Terminal::start(&home, &resume);
    let shown = terminal.shows("Which conversation?");
    assert!(shown.contains("[1]") && shown.contains("Another one"), "{shown}");
    assert!(shown.contains("[2]") && shown.contains("We are in one"), "{shown}");
    assert!(!shown.contains("We are in two") && !shown.contains("Fail"), "{shown}");
    terminal.keys("7\r");
    terminal.shows("`7` is not on the list");
    terminal.keys("2\r");
    terminal.shows("› We are in one");
    terminal.prompts();
    // The prompt offers the others of this folder, too.
    terminal.keys("/resume\r");
    terminal.until("the list again", |screen| {
        screen.contents().matches("Which conversation?").count() >= 3
    });
    terminal.keys("\r");
    terminal.prompts();
}
