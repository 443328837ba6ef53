//! Writes the generated code of the SDK: `generate DESCRIPTORS FOLDER`.
//!
//! The descriptors are protoc's, with comments. prost-build makes the messages from them. This
//! program adds a module for each family of games: its messages under short names, and constructors
//! of its moves. The comment of a verb in the proto names the fields that it uses, as "uses
//! `card`".

mod family;

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use prost::Message;
use prost_types::FileDescriptorSet;

const HEAD: &str = "// Generated from proto/ by scripts/proto: do not edit.\n\n";
/// The packages as prost-build names them, and their files in the SDK.
const PACKAGES: [(&str, &str); 2] =
    [("cardarena.v1", "v1.rs"), ("cardarena.games.v1", "games/v1.rs")];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [descriptors, folder] = arguments.as_slice() else {
        return Err("generate DESCRIPTORS FOLDER".into());
    };
    let folder = Path::new(folder);
    let set = FileDescriptorSet::decode(&*fs::read(descriptors)?)?;
    for (name, text) in family::modules(&set) {
        fs::write(folder.join(format!("{name}.rs")), format!("{HEAD}{text}"))?;
    }
    fs::create_dir_all(folder.join("games"))?;
    for (name, text) in messages(set)? {
        fs::write(folder.join(name), format!("{HEAD}{text}"))?;
    }
    Ok(())
}

/// The messages as prost-build makes them, by file in the SDK.
fn messages(
    set: FileDescriptorSet,
) -> Result<BTreeMap<&'static str, String>, Box<dyn std::error::Error>> {
    let folder = env::temp_dir().join(format!("cardarena-generate-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let result = prost_build::Config::new().out_dir(&folder).compile_fds(set);
    let mut texts = BTreeMap::new();
    if result.is_ok() {
        for (package, file) in PACKAGES {
            texts.insert(file, fs::read_to_string(folder.join(format!("{package}.rs")))?);
        }
    }
    fs::remove_dir_all(&folder)?;
    result?;
    Ok(texts)
}
