import { GceRefusal } from "./refusal.ts";

/** One page of a list in Google's format. */
export interface Page<Item> {
  readonly items?: readonly Item[];
  readonly nextPageToken?: string;
}

const mostResults = 500;

/**
 * Returns a page of a list. A token contains the last item, so that creations and deletions cause neither gaps nor duplicates.
 *
 * @param items in the order of their ids
 * @throws GceRefusal
 */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  parameters: URLSearchParams,
): Page<Item> {
  const maxResults = Number(parameters.get("maxResults") ?? mostResults);
  if (!Number.isInteger(maxResults) || maxResults < 0 || maxResults > mostResults) {
    throw new GceRefusal("invalid", `Invalid value for field 'maxResults': '${parameters.get("maxResults") ?? ""}'.`);
  }
  const token = parameters.get("pageToken") ?? "";
  const after = Buffer.from(token, "base64url").toString("utf8");
  if (token !== "" && !/^\d+$/.test(after)) {
    throw new GceRefusal("invalid", `Invalid value for field 'pageToken': '${token}'.`);
  }
  const left = token === "" ? items : items.filter(({ id }) => BigInt(id) > BigInt(after));
  const page = left.slice(0, maxResults === 0 ? mostResults : maxResults);
  const last = page.at(-1);
  return {
    // Google omits the field when it is empty.
    ...(page.length === 0 ? {} : { items: page }),
    ...(page.length < left.length && last !== undefined
      ? { nextPageToken: Buffer.from(last.id).toString("base64url") }
      : {}),
  };
}
