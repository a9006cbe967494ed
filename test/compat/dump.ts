import { createApiServer } from "@millwright/devcluster";
import { startControlPlane } from "../../tools/control-plane/start-control-plane.ts";
import { compareServers, describeStep } from "./compare-servers.ts";
import { subjects } from "./subjects/index.ts";
import { knownDifferences } from "./known-differences.ts";
const wanted = process.argv.slice(2);
const plane = await startControlPlane({
  controllers: ["garbage-collector-controller", "disruption-controller", "namespace-controller"],
  apiServerFlags: ["--disable-admission-plugins=TaintNodesByCondition"],
});
const server = createApiServer();
const { url } = await server.listen();
let checks = 0,
  equal = 0;
try {
  for (const subject of subjects) {
    if (wanted.length && !wanted.includes(subject.name)) continue;
    try {
      const steps = await compareServers(subject, plane, { url }, knownDifferences);
      const bad = steps.filter((s) => s.unlisted.length > 0);
      checks += steps.length;
      equal += steps.length - bad.length;
      console.log(`##### ${subject.name}: ${steps.length} checks, ${bad.length} differ`);
      for (const s of bad) console.log(`=== ${subject.name} / ${s.name}\n${describeStep(s)}`);
    } catch (e) {
      console.log(`##### ${subject.name}: FAILED ${e instanceof Error ? e.message : e}`);
    }
  }
} finally {
  await plane.stop();
  await server.close();
}
console.log(`${checks} checks, ${equal} equal`);
