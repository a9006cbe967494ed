/** A devcluster in memory for devcluster.ts, in a process of its own so that its memory is its own. Prints its address. */
import { createApiServer } from "../../packages/devcluster/src/api-server.ts";

const server = createApiServer();
const { url } = await server.listen();
process.stdout.write(`${url}\n`);
