//! Writes the generated code of the SDK: `generate DESCRIPTORS FOLDER`.
//!
//! The descriptors are protoc's, with what a bot needs and its comments. prost-build makes the
//! messages of them. A module for each family of games comes on top: its messages under short
//! names, and constructors of its moves. Which fields a verb uses is what its comment in the proto
//! says, as "uses `card`".

mod family;

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use prost::Message;
use prost_types::FileDescriptorSet;

const HEAD: &str = "// Generated from proto/ by scripts/proto: do not edit.\n\n";
/// What prost-build calls a package, and where it lies in the SDK.
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

/// The messages as prost-build makes them, by their place in the SDK.
fn messages(
    set: FileDescriptorSet,
) -> Result<BTreeMap<&'static str, String>, Box<dyn std::error::Error>> {
    let folder = env::temp_dir().join(format!("cardarena-generate-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let made = prost_build::Config::new().out_dir(&folder).compile_fds(set);
    let mut texts = BTreeMap::new();
    if made.is_ok() {
        for (package, place) in PACKAGES {
            texts.insert(place, fs::read_to_string(folder.join(format!("{package}.rs")))?);
        }
    }
    fs::remove_dir_all(&folder)?;
    made?;
    Ok(texts)
}
