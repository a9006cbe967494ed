/**
 * A devcluster in memory for devcluster.ts, in a process of its own so that its memory is its own. Prints how to reach it, as JSON.
 * With `--secure` it speaks HTTPS and asks for a bearer token.
 */
import { createApiServer } from "@millwright/devcluster";

const token = process.argv.includes("--secure") ? "bench" : undefined;
const server = createApiServer(
  token === undefined
    ? {}
    : { tls: true, tokens: { [token]: { user: "bench", groups: ["system:masters"] } }, authorization: "RBAC" },
);
process.stdout.write(`${JSON.stringify({ ...(await server.listen()), token })}\n`);
