import { startGceLoop } from "./gce-cloud.ts";
import { describeFleet } from "./fleet-scenario.ts";

describeFleet("Compute Engine", startGceLoop);
