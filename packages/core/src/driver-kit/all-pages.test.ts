import { describe, expect, it } from "vitest";
import { allPages, type Page } from "./all-pages.ts";

const pages: Readonly<Record<string, Page<number>>> = {
  first: { items: [1, 2], nextPageToken: "second" },
  second: { items: [], nextPageToken: "third" },
  third: { items: [3], nextPageToken: undefined },
};
const none: Page<number> = { items: [], nextPageToken: undefined };

describe("all pages of a list", () => {
  it("are asked for by the token of the one before", async () => {
    const asked: (string | undefined)[] = [];
    const found = await allPages("EC2", (token) => {
      asked.push(token);
      return Promise.resolve(pages[token ?? "first"] ?? none);
    });
    expect(found).toStrictEqual([[1, 2], [], [3]]);
    expect(asked).toStrictEqual([undefined, "second", "third"]);
  });

  it("are an error when one is missing", async () => {
    const cut = allPages<number>("EC2", (token) =>
      token === undefined ? Promise.resolve(pages["first"] ?? none) : Promise.reject(new Error("reset")),
    );
    await expect(cut).rejects.toThrow("reset");
  });

  it("are an error when they go round", async () => {
    const circle = allPages<number>("EC2", (token) =>
      Promise.resolve({ items: [1], nextPageToken: token === "b" ? "a" : token === "a" ? "b" : "a" }),
    );
    await expect(circle).rejects.toMatchObject({
      code: "Unavailable",
      message: "EC2 returned the same page of a list twice",
    });
  });
});
