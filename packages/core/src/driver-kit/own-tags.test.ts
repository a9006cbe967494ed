import { describe, expect, it } from "vitest";
import { withOwnTags } from "./own-tags.ts";

const own = { uid: "u", token: "t", class: "c" };

describe("the tags of something new", () => {
  it("are those of the class and those of the driver", () => {
    expect(withOwnTags({ team: "a" }, own, 10)).toStrictEqual({ team: "a", ...own });
  });

  it("cannot be set by the class where they are the driver's", () => {
    expect(withOwnTags({ uid: "stolen", UID: "other" }, own, 10)).toStrictEqual({ UID: "other", ...own });
    expect(withOwnTags({ UID: "stolen" }, own, 10, (key) => key.toLowerCase())).toStrictEqual(own);
  });

  it("leave the less needed of the driver's out where there is no room", () => {
    expect(withOwnTags({ a: "1", b: "2" }, own, 4)).toStrictEqual({ a: "1", b: "2", uid: "u", token: "t" });
    expect(withOwnTags({ a: "1", b: "2" }, own, 2)).toStrictEqual({ a: "1", b: "2" });
  });

  it("of the class are all kept, even more than the cloud allows, which then rejects them", () => {
    expect(withOwnTags({ a: "1", b: "2" }, own, 1)).toStrictEqual({ a: "1", b: "2" });
  });
});
