import { connectDriver } from "@millwright/driver-rpc";

/** The driver at an address, as a module for `--provider`. */
export default (await connectDriver(process.env["OUTSIDE_DRIVER"] ?? "")).driver;
