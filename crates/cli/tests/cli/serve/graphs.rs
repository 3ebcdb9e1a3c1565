//! The folder that the nodes of a graph share.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::Serving;

fn begin(serving: &mut Serving) -> (String, PathBuf) {
    let begun = serving.call("graph.begin", &json!({}));
    let text = |key: &str| begun["result"][key].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    (text("graph"), PathBuf::from(text("path")))
}

/// Opens the session of a node, and runs a command in it.
fn node(serving: &mut Serving, agent: &str, graph: Option<&str>, command: &str) -> Value {
    let workspace = serving.workspace();
    let opened =
        serving.call("session.open", &json!({"agent": agent, "workspace": workspace, "graph": graph}));
    let session = opened["result"]["session"].as_str().unwrap_or_else(|| panic!("{opened}")).to_owned();
    serving.call("exec", &json!({"session": session, "command": command}))["result"].clone()
}

#[test]
fn only_nodes_of_a_graph_see_its_directory() {
    let mut serving = Serving::start(&[]);
    let (graph, path) = begin(&mut serving);
    let (file, other) = (path.join("out.txt").display().to_string(), begin(&mut serving));
    let written = node(&mut serving, "upstream", Some(&graph), &format!("echo made > {file}"));
    assert_eq!(written["exitCode"], 0, "{written}");
    let read = node(&mut serving, "downstream", Some(&graph), &format!("cat {file}"));
    assert_eq!(read["result"]["text"], "made\n", "{read}");
    for outsider in [None, Some(other.0.as_str())] {
        let read = node(&mut serving, "outsider", outsider, &format!("cat {file}"));
        assert_ne!(read["exitCode"], 0, "{read}");
    }
    assert_eq!(serving.call("graph.end", &json!({"graph": graph}))["result"]["graph"], json!(graph));
    assert!(!path.exists() && other.1.exists());
    let late = serving.call("session.open", &json!({"agent": "late", "graph": graph}));
    assert_eq!(late["error"]["code"], -32602, "{late}");
    let free = serving.call("session.open", &json!({"graph": other.0}));
    assert_eq!(free["error"]["code"], -32602, "{free}");
    // A graph that no client has ended ends with the server.
    serving.to = None;
    serving.child.wait().unwrap();
    assert!(!other.1.exists());
}
