import { startEc2Loop } from "./ec2-cloud.ts";
import { describeFleet } from "./fleet-scenario.ts";

describeFleet("EC2", startEc2Loop);
