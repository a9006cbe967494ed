import { createApiServer } from "@millwright/devcluster";
import { compareServers, describeStep } from "./compare-servers.ts";
import { knownDifferences } from "./known-differences.ts";
import { startRealServer } from "./real-server.ts";
import { subjects } from "./subjects/index.ts";

/** Prints the unlisted differences of the given subjects, or of all. */
const wanted = new Set(process.argv.slice(2));
const plane = await startRealServer();
const server = createApiServer({ authorization: "RBAC" });
try {
  const ours = await server.listen();
  for (const subject of subjects) {
    if (wanted.size > 0 && !wanted.has(subject.name)) continue;
    const steps = await compareServers(subject, plane, ours, knownDifferences);
    const different = steps.filter(({ unlisted }) => unlisted.length > 0);
    console.log(`##### ${subject.name}: ${steps.length} checks, ${different.length} differ`);
    for (const step of different) console.log(`=== ${subject.name} / ${step.name}\n${describeStep(step)}`);
  }
} finally {
  await plane.stop();
  await server.close();
}
