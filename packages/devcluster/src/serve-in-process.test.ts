import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { createApiServer } from "./api-server.ts";

/** A server whose requests come from elsewhere: here from a port that it knows nothing of. */
async function start() {
  const server = createApiServer();
  const outside = createServer(server.serveInProcess());
  const port = await new Promise<number>((resolve) => {
    outside.listen(0, "127.0.0.1", () => {
      const address = outside.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  onTestFinished(async () => {
    await server.close();
    outside.closeAllConnections();
    outside.close();
  });
  const fetchNode = () =>
    fetch(`http://127.0.0.1:${port}/api/v1/nodes`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ metadata: { name: "a" } }),
    });
  return { server, fetchNode };
}

test("serves requests that did not come over its own port, and shows what it stored", async () => {
  const { server, fetchNode } = await start();
  const seen: string[] = [];
  server.objects.subscribe(undefined, ({ type, key }) => void seen.push(`${type} ${key}`));
  expect((await fetchNode()).status).toBe(201);
  expect(server.objects.list("nodes.").map(({ metadata }) => metadata.name)).toEqual(["a"]);
  expect(seen).toContain("ADDED /a");
});

test("serves nothing while it is down, and comes back from a backup", async () => {
  const { server, fetchNode } = await start();
  const backup = server.backup();
  await fetchNode();
  const down = server.restart({ restore: backup, downMs: 200 });
  await expect(fetchNode()).rejects.toThrow(/./);
  await down;
  expect(server.objects.list("nodes.")).toEqual([]);
  expect((await fetchNode()).status).toBe(201);
});
