//! The module of a family of games.

use std::collections::HashMap;
use std::fmt::Write;

use heck::ToUpperCamelCase;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet,
};

const PANICS: &str = "///\n/// # Panics\n///\n/// If what it is given is not written as a card or suit is, or names nothing.\n#[track_caller]\n";
const GAMES: &str = "cardarena/games/v1/";
/// Numbers in FileDescriptorProto and below, of which paths to comments are made.
const MESSAGES: i32 = 4;
const ENUMS: i32 = 5;
const FIELDS: i32 = 2;
const VALUES: i32 = 2;

/// The modules of all families, with their names.
pub fn modules(set: &FileDescriptorSet) -> Vec<(String, String)> {
    let files = set.file.iter().filter(|file| file.name().starts_with(GAMES));
    files.filter_map(Family::of).map(|family| (family.name.clone(), family.text())).collect()
}

struct Family<'a> {
    /// As in `oneof game`: sixty_six.
    name: String,
    /// Of its messages: SixtySix.
    prefix: &'a str,
    file: &'a FileDescriptorProto,
    comments: HashMap<&'a [i32], &'a str>,
}

impl<'a> Family<'a> {
    /// None of a file without a game, as cards.proto.
    fn of(file: &'a FileDescriptorProto) -> Option<Self> {
        let asks =
            file.message_type.iter().find_map(|message| message.name().strip_suffix("Ask"))?;
        let info = file.source_code_info.as_ref()?;
        let comments =
            info.location.iter().map(|place| (place.path.as_slice(), place.leading_comments()));
        let name = file.name().strip_prefix(GAMES)?.strip_suffix(".proto")?.to_owned();
        Some(Self { name, prefix: asks, file, comments: comments.collect() })
    }

    fn text(&self) -> String {
        let mut text = format!(
            "//! {} : its messages under short names, and constructors of its moves.\n\n",
            self.title()
        )
        .replace(" :", ":");
        let mut rest = String::new();
        self.game(&mut rest);
        self.constructors(&mut rest);
        self.bets(&mut rest);
        self.short_names(&mut text);
        if rest.contains("written::") {
            text.push_str("use crate::cards::written;\n");
        }
        text.push_str("use crate::v1;\n\n");
        text + &rest
    }

    fn short<'n>(&self, name: &'n str) -> &'n str {
        name.strip_prefix(self.prefix).unwrap_or(name)
    }

    fn title(&self) -> String {
        let words = self.name.split('_').map(|word| word.to_upper_camel_case());
        words.collect::<Vec<_>>().join(" ")
    }

    fn comment(&self, path: &[i32]) -> String {
        let text = self.comments.get(path).copied().unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn short_names(&self, text: &mut String) {
        let enums = self.file.enum_type.iter().map(EnumDescriptorProto::name);
        let messages = self.file.message_type.iter().map(DescriptorProto::name);
        let names = enums.chain(messages.filter(|name| !name.ends_with("Ask")));
        let names = names.map(|name| match self.short(name) {
            short if short == name => name.to_owned(),
            short => format!("{name} as {short}"),
        });
        let names = names.collect::<Vec<_>>().join(", ");
        writeln!(text, "pub use crate::games::v1::{{{names}}};").unwrap();
    }

    fn game(&self, text: &mut String) {
        let (name, title) = (self.prefix, self.title());
        write!(
            text,
            "/// What a bot of {title} is generic in.
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum {name} {{}}

            /// One decision of a seat at {title}.
            pub type Ask = crate::Ask<{name}>;
            /// What a bot of {title} does at an ask.
            pub type Choice = crate::Choice<{name}>;
            /// The end of a match of {title}.
            pub type MatchEnd = crate::MatchEnd<{name}>;

            impl crate::Game for {name} {{
                type View = View;
                type Move = Move;
                type Event = Event;

                const GAMES: &'static [&'static str] = crate::families::{constant};

                fn view(body: &v1::ask::Game) -> Option<View> {{
                    let v1::ask::Game::{name}(body) = body else {{
                        return None;
                    }};
                    Some(body.view.clone().unwrap_or_default())
                }}

                fn moves(body: &v1::ask::Game) -> Vec<Move> {{
                    match body {{
                        v1::ask::Game::{name}(body) => body.moves.clone(),
                        _ => Vec::new(),
                    }}
                }}

                fn events(body: &v1::ask::Game) -> Vec<Event> {{
                    match body {{
                        v1::ask::Game::{name}(body) => body.events.clone(),
                        _ => Vec::new(),
                    }}
                }}

                fn event(event: &v1::game_event::Game) -> Option<Event> {{
                    match event {{
                        v1::game_event::Game::{name}(event) => Some(event.clone()),
                        _ => None,
                    }}
                }}

                fn wire(chosen: Move) -> v1::game_move::Game {{
                    v1::game_move::Game::{name}(chosen)
                }}
            }}

            impl From<Move> for Choice {{
                fn from(chosen: Move) -> Self {{
                    Self::play(chosen)
                }}
            }}

            impl From<&Move> for Choice {{
                fn from(chosen: &Move) -> Self {{
                    Self::play(chosen.to_owned())
                }}
            }}\n\n",
            constant = self.name.to_uppercase(),
        )
        .unwrap();
    }

    fn message(&self, short: &str) -> &DescriptorProto {
        let found =
            self.file.message_type.iter().find(|message| self.short(message.name()) == short);
        found.unwrap_or_else(|| panic!("{} has no {short}", self.name))
    }

    /// Writes a function for each verb with the fields that it uses and no others.
    fn constructors(&self, text: &mut String) {
        let enums = &self.file.enum_type;
        let place = enums
            .iter()
            .position(|each| self.short(each.name()) == "Verb")
            .expect("moves have verbs");
        let chosen = self.message("Move");
        text.push_str(
            "/// Moves that are whole: each with the fields that its verb uses, and no others.\n\
             /// Whether a move is legal now, the rules say.\n\
             impl Move {\n",
        );
        let prefix = enums[place].value[0].name().trim_end_matches("UNSPECIFIED");
        for (number, value) in enums[place].value.iter().enumerate().skip(1) {
            let word = value.name().trim_start_matches(prefix);
            let name = word.to_lowercase();
            let getter = chosen
                .field
                .iter()
                .any(|field| field.r#type() == Type::Enum && field.name() == name);
            assert!(!getter, "{}: prost has a function {name} already", self.name);
            let said = self.comment(&[ENUMS, place as i32, VALUES, number as i32]);
            let (does, uses) =
                said.split_once("; uses").unwrap_or((said.trim_end_matches('.'), ""));
            let uses = uses.split_once('.').map_or(uses, |(first, _)| first);
            let fields = uses.split('`').skip(1).step_by(2);
            let fields: Vec<_> =
                fields.filter_map(|name| chosen.field.iter().find(|f| f.name() == name)).collect();
            let parameters =
                fields.iter().map(|field| format!("{}: {}", field.name(), self.parameter(field)));
            let parameters = parameters.collect::<Vec<_>>().join(", ");
            let verb = word.to_upper_camel_case();
            let checked = fields.iter().any(|field| self.value_of(field).contains("written::"));
            let panics = if checked { PANICS } else { "" };
            let does = first_lower(does);
            writeln!(text, "/// The move: {does}.\n{panics}pub fn {name}({parameters}) -> Self {{")
                .unwrap();
            writeln!(text, "Self {{ verb: Verb::{verb}.into(),").unwrap();
            for field in &fields {
                match (field.name(), self.value_of(field)) {
                    (name, value) if name == value => writeln!(text, "{name},"),
                    (name, value) => writeln!(text, "{name}: {value},"),
                }
                .unwrap();
            }
            if fields.len() + 1 < chosen.field.len() {
                text.push_str("..Self::default()\n");
            }
            text.push_str("}\n}\n\n");
        }
        text.push_str("}\n");
    }

    fn parameter(&self, field: &FieldDescriptorProto) -> String {
        match (field.r#type(), field.label(), field.proto3_optional()) {
            (Type::String, _, true) => "Option<&str>".to_owned(),
            (Type::String, Label::Repeated, _) => {
                "impl IntoIterator<Item = impl Into<String>>".to_owned()
            }
            (Type::String, ..) => "impl Into<String>".to_owned(),
            (Type::Uint32, Label::Optional, false) => "u32".to_owned(),
            (Type::Bool, Label::Optional, false) => "bool".to_owned(),
            (Type::Enum, Label::Optional, false) => {
                let name = self.short(field.type_name().rsplit('.').next().unwrap_or_default());
                if self.may_be_unspecified(field) {
                    format!("Option<{name}>")
                } else {
                    name.to_owned()
                }
            }
            other => panic!("no move has a field like {}: {other:?}", field.name()),
        }
    }

    /// Says what bets may come to, where views have it.
    fn bets(&self, text: &mut String) {
        let has = |name| self.message("View").field.iter().any(|field| field.name() == name);
        if has("min_to") && has("max_to") {
            text.push_str(
                "\nimpl View {
                /// What a bet or raise of the seat to act may come to; none if it may make none.
                pub fn bets(&self) -> Option<std::ops::RangeInclusive<u32>> {
                    Some(self.min_to?..=self.max_to?)
                }
                }\n",
            );
        }
    }

    /// Whether a value of a move's enum may be left out: the comment of the field says so.
    fn may_be_unspecified(&self, field: &FieldDescriptorProto) -> bool {
        let is_move = |each: &DescriptorProto| self.short(each.name()) == "Move";
        let message = self.file.message_type.iter().position(is_move);
        let place = self.message("Move").field.iter().position(|each| each == field);
        let (Some(message), Some(place)) = (message, place) else {
            return false;
        };
        let said = self.comment(&[MESSAGES, message as i32, FIELDS, place as i32]);
        said.to_lowercase().contains("unspecified")
    }

    /// What a field of a move is given, of the parameter of its name. A text is a card, a suit or free.
    fn value_of(&self, field: &FieldDescriptorProto) -> String {
        let name = field.name();
        match (field.r#type(), name) {
            (Type::String, "card") if field.proto3_optional() => {
                format!("{name}.map(written::card)")
            }
            (Type::String, "card" | "suit") => format!("written::{name}({name})"),
            (Type::String, "cards" | "front" | "middle" | "back") => {
                format!("written::cards({name})")
            }
            (Type::String, "text") => format!("{name}.into()"),
            (Type::Enum, _) if self.may_be_unspecified(field) => {
                format!("{name}.map_or(0, |{name}| written::named({name:?}, {name}))")
            }
            (Type::Enum, _) => format!("written::named({name:?}, {name})"),
            (Type::String, _) => panic!("what is the text {name} of a move?"),
            _ => name.to_owned(),
        }
    }
}

fn first_lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
