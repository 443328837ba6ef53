//! The module of a family of games.

use std::collections::HashMap;
use std::fmt::Write;

use heck::ToUpperCamelCase;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet,
};

const PANICS: &str = "///\n/// # Panics\n///\n/// If an argument is not a card or suit, or is unspecified.\n#[track_caller]\n";
const GAMES: &str = "cardarena/games/v1/";
/// Field numbers of descriptors, from which the paths to comments are built.
const MESSAGES: i32 = 4;
const ENUMS: i32 = 5;
const FIELDS: i32 = 2;
const VALUES: i32 = 2;

/// The modules of all families, by name.
pub fn modules(set: &FileDescriptorSet) -> Vec<(String, String)> {
    let files = set.file.iter().filter(|file| file.name().starts_with(GAMES));
    files.filter_map(Family::of).map(|family| (family.name.clone(), family.text())).collect()
}

struct Family<'a> {
    /// The field of `oneof game`, such as sixty_six.
    name: String,
    /// The prefix of its messages, such as SixtySix.
    prefix: &'a str,
    file: &'a FileDescriptorProto,
    comments: HashMap<&'a [i32], &'a str>,
}

impl<'a> Family<'a> {
    /// None if the file has no game, as cards.proto.
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
            "//! {}: its messages under short names, and constructors of its moves.\n\n",
            self.title()
        );
        let mut rest = String::new();
        self.game(&mut rest);
        self.constructors(&mut rest);
        self.bets(&mut rest);
        self.short_names(&mut text);
        if rest.contains("checked::") {
            text.push_str("use crate::cards::checked;\n");
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
            "/// The types of {title}.
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum {name} {{}}

            /// One decision of a seat in {title}.
            pub type Ask = crate::Ask<{name}>;
            /// A bot's answer to an ask of {title}.
            pub type Choice = crate::Choice<{name}>;
            /// The end of a match of {title}.
            pub type MatchEnd = crate::MatchEnd<{name}>;

            impl crate::Game for {name} {{
                type View = View;
                type Move = Move;
                type Event = Event;

                const GAMES: &'static [&'static str] = crate::families::{constant};

                fn ask(view: View, moves: Vec<Move>) -> v1::ask::Game {{
                    v1::ask::Game::{name}(crate::games::v1::{name}Ask {{
                        view: Some(view),
                        moves,
                        moves_complete: true,
                        ..Default::default()
                    }})
                }}

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

    /// Writes a function for each verb, with the fields that it uses and no others.
    fn constructors(&self, text: &mut String) {
        let enums = &self.file.enum_type;
        let place = enums
            .iter()
            .position(|each| self.short(each.name()) == "Verb")
            .expect("moves have verbs");
        let chosen = self.message("Move");
        text.push_str(
            "/// Constructors of moves. Each takes exactly the fields that its verb uses. They do not check\n\
             /// whether the move is legal.\n\
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
            assert!(!getter, "{}: prost already has a function {name}", self.name);
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
            let checked = fields.iter().any(|field| self.value_of(field).contains("checked::"));
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
            other => panic!("unsupported field {} of a move: {other:?}", field.name()),
        }
    }

    /// Writes the range of bets, if the view has one.
    fn bets(&self, text: &mut String) {
        let has = |name| self.message("View").field.iter().any(|field| field.name() == name);
        if has("min_to") && has("max_to") {
            text.push_str(
                "\nimpl View {
                /// The amounts that a bet or raise of the seat to act may reach. None if it may not bet.
                pub fn bets(&self) -> Option<std::ops::RangeInclusive<u32>> {
                    Some(self.min_to?..=self.max_to?)
                }
                }\n",
            );
        }
    }

    /// Whether an enum field of a move may be unspecified. The field's comment says so.
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

    /// The value of a move's field, made from the parameter of the same name. A text is a card, a
    /// suit or free text.
    fn value_of(&self, field: &FieldDescriptorProto) -> String {
        let name = field.name();
        match (field.r#type(), name) {
            (Type::String, "card") if field.proto3_optional() => {
                format!("{name}.map(checked::card)")
            }
            (Type::String, "card" | "suit") => format!("checked::{name}({name})"),
            (Type::String, "cards" | "front" | "middle" | "back") => {
                format!("checked::cards({name})")
            }
            (Type::String, "text") => format!("{name}.into()"),
            (Type::Enum, _) if self.may_be_unspecified(field) => {
                format!("{name}.map_or(0, |{name}| checked::specified({name:?}, {name}))")
            }
            (Type::Enum, _) => format!("checked::specified({name:?}, {name})"),
            (Type::String, _) => panic!("unsupported text field {name} of a move"),
            _ => name.to_owned(),
        }
    }
}

fn first_lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
