import { MachineError } from "../driver/machine-error.ts";

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Undefined for the last one. */
  readonly nextPageToken: string | undefined;
}

/**
 * All pages of a list, or an error: an incomplete list would leak VMs.
 *
 * @param cloud its name, for messages
 * @param ask gets the page of a token; the first has none
 * @throws MachineError Unavailable when the cloud returns a page twice: the list would never end
 */
export async function allPages<Item>(
  cloud: string,
  ask: (pageToken: string | undefined) => Promise<Page<Item>>,
): Promise<readonly (readonly Item[])[]> {
  const pages: (readonly Item[])[] = [];
  const tokens = new Set<string>();
  for (let token: string | undefined; ;) {
    const page = await ask(token);
    pages.push(page.items);
    token = page.nextPageToken;
    if (token === undefined) return pages;
    if (tokens.has(token)) throw new MachineError("Unavailable", `${cloud} returned the same page of a list twice`);
    tokens.add(token);
  }
}
