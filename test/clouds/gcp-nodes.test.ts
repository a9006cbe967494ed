import { startGceLoop } from "./gce-cloud.ts";
import { describeNodes } from "./node-scenario.ts";

describeNodes("Compute Engine", startGceLoop);
