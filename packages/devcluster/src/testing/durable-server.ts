import { createApiServer } from "../api-server.ts";
import { openFileStorage } from "../storage/file-storage.ts";

/*
 * A server in a process of its own, for tests that kill it: `node durable-server.ts DIRECTORY` prints its address.
 */
const [, , directory = ""] = process.argv;
const server = createApiServer({ storage: openFileStorage(directory) });
const { url } = await server.listen();
process.stdout.write(`${url}\n`);
