import { expect, it } from "vitest";
import { selectConnectionToClose } from "./select-connection.ts";

const limits = { total: 6, perPeer: 4 };

/** Connections by texts: a peer, with `*` while a request is being answered. */
const select = (text: string) => {
  const held = text.split(" ").map((each) => ({ text: each, peer: each.slice(0, 1), isBusy: each.endsWith("*") }));
  const selected = selectConnectionToClose(
    held.map((each, index) => ({ ...each, index })),
    limits,
  );
  return selected === undefined ? undefined : `${selected.text} ${selected.index}`;
};

it.each([
  ["closes none within the limits", "a a a b b b", undefined],
  ["closes the longest idle one of a peer with too many", "b a* a a a* a", "a 2"],
  ["closes the oldest one of a peer whose others are all busy", "b a* a* a* a* a", "a* 1"],
  ["closes one of the peer with most, not of the new one", "a a* a b b* c d", "a 0"],
  ["closes a busy one of the peer with most: a probe gets in", "a* a* a* b b c d", "a* 0"],
  ["closes the oldest where each peer has one", "a b c d e f g", "a 0"],
])("%s", (_title, held, expected) => expect(select(held)).toBe(expected));
