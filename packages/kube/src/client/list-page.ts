import { isRecord } from "@millwright/base";
import { elementsOf, findValue } from "../json/json-text.ts";
import { parseJson } from "../json/parse-json.ts";
import { createSlices } from "../slices.ts";
import type { SliceOptions } from "../slices.ts";
import { textWithoutManagedFields } from "./managed-fields.ts";

/** Stands for the items while the rest is parsed. */
const cutOut = "items";

/** A list whose items are not parsed yet. */
export interface ListPage {
  readonly items: readonly unknown[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * Reads the text of a list item by item, with a pause for the event loop whenever a slice is over: a list of everything, which is asked for when
 * pages expire, has hundreds of megabytes.
 *
 * @returns undefined when the text is JSON, but no list
 * @throws SyntaxError for text that is not JSON; the reason of the signal when that aborts
 */
export async function readListPage(
  bytes: Buffer,
  options: SliceOptions & { readonly omitManagedFields: boolean },
): Promise<ListPage | undefined> {
  const start = findValue(bytes, "items");
  if (start === undefined) return asPage(parseJson(bytes.toString("utf8")));
  const slices = createSlices(options);
  const items: unknown[] = [];
  const elements = elementsOf(bytes, start);
  for (;;) {
    const next = elements.next();
    if (next.done === true) {
      const rest = next.value === undefined ? undefined : withoutItems(bytes, start, next.value);
      return rest === undefined ? asPage(parseJson(bytes.toString("utf8"))) : { items, metadata: rest.metadata };
    }
    const { from, to } = next.value;
    items.push(
      parseJson(
        options.omitManagedFields ? textWithoutManagedFields(bytes, [], next.value) : bytes.toString("utf8", from, to),
      ),
    );
    const pause = slices.pauseIfDue();
    if (pause !== undefined) await pause;
  }
}

/** The fields of a list without its items; undefined when there is a second member of that name, which is the one that counts. */
function withoutItems(bytes: Buffer, start: number, end: number): ListPage | undefined {
  const text = `${bytes.toString("utf8", 0, start)}[${JSON.stringify(cutOut)}]${bytes.toString("utf8", end)}`;
  const page = asPage(parseJson(text));
  return page?.items[0] === cutOut ? page : undefined;
}

function asPage(list: unknown): ListPage | undefined {
  if (!isRecord(list)) return undefined;
  const { items, metadata } = list;
  if (!Array.isArray(items) && items !== null) return undefined;
  return { items: items ?? [], metadata: isRecord(metadata) ? metadata : {} };
}
