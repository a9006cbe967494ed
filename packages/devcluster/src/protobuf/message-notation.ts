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
 * `name`, `name:type`, `name:type[]` (repeated), `name:type{}` (map), `name:type?` (left out when zero) or `~:type` (embedded);
 * numbers start at 1, a dash leaves one out.
 */
export function message(fields: string): MessageType {
  const entries = fields.split(/\s+/).flatMap((text, index): [number, FieldType][] => {
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
