/** The type of a protobuf field: a scalar, a time, or another message of the table. */
export interface FieldType {
  readonly name: string;
  readonly type: string;
  readonly isRepeated?: boolean;
  /** Map values are of `type`; keys are strings. */
  readonly isMap?: boolean;
  /** The fields of the message are fields of the parent's JSON object, like a Go struct that is embedded. */
  readonly isInline?: boolean;
  /** Zero and false are left out, as with Go's `omitempty` for fields that are not pointers. */
  readonly isOmittedWhenZero?: boolean;
}

export type MessageType = Readonly<Record<number, FieldType>>;

/**
 * Reads a table with one message a line: its name, and its fields, each `name`, `name:type[]` (repeated), `name:type{}` (map), `name:type?` (left out when zero) or `~:type` (embedded);
 * their numbers start at 1, a dash leaves one out.
 */
export function readMessages(table: string): Readonly<Record<string, MessageType>> {
  const lines = table.trim().split("\n");
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", ...fields] = line.split(" ");
      return [name, message(fields)];
    }),
  );
}

function message(fields: readonly string[]): MessageType {
  const entries = fields.flatMap((text, index): [number, FieldType][] => {
    const [name = "", type = "string"] = text.split(":");
    if (name === "-") return [];
    const bare = type.replace(/\[\]|\{\}|\?/, "");
    if (name === "~") return [[index + 1, { name, type: bare, isInline: true }]];
    return [
      [
        index + 1,
        {
          name,
          type: bare,
          isRepeated: type.endsWith("[]"),
          isMap: type.endsWith("{}"),
          isOmittedWhenZero: type.endsWith("?"),
        },
      ],
    ];
  });
  return Object.fromEntries(entries);
}
