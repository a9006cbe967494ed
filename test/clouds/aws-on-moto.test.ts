import { startOnMoto } from "./ec2-on-moto.ts";
import { hasMoto } from "./ec2-servers.ts";
import { describeFleet } from "./fleet-scenario.ts";

describeFleet("moto (where it is installed: test/emulators/ec2/README.md)", startOnMoto, hasMoto);
