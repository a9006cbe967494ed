/** Something that happens in a recording: output of the terminal, or a caption. */
export interface RecordedEvent {
  /** Since the beginning, seconds. */
  readonly at: number;
  readonly kind: "output" | "caption";
  readonly text: string;
}

/** What a terminal shows, and when. */
export interface Recording {
  /** Of its files in docs/pictures. */
  readonly name: string;
  readonly title: string;
  readonly columns: number;
  readonly rows: number;
  readonly events: readonly RecordedEvent[];
}

const codes = { output: "o", caption: "m" } as const;

/** A recording as an asciicast file, version 2 (docs.asciinema.org); captions are its markers. */
export function castOf({ columns, rows, title, events }: Recording): string {
  const header = { version: 2, width: columns, height: rows, title };
  const lines = [header, ...events.map(({ at, kind, text }) => [at, codes[kind], text])];
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** The recording of an asciicast file that {@link castOf} has made. */
export function recordingOf(name: string, cast: string): Recording {
  const [first = "{}", ...lines] = cast.trimEnd().split("\n");
  const header: { readonly width: number; readonly height: number; readonly title: string } = JSON.parse(first);
  const events = lines.map((line): RecordedEvent => {
    const [at, code, text]: [number, string, string] = JSON.parse(line);
    return { at, kind: code === codes.caption ? "caption" : "output", text };
  });
  return { name, title: header.title, columns: header.width, rows: header.height, events };
}
