"use strict";

const { findBinary } = require("./binary.cjs");
const { ExecStream, Stockade } = require("./client.cjs");
const { byName, serverError, ...errors } = require("./errors.cjs");
const { VERSION } = require("./protocol.cjs");

module.exports = { ...errors, ...byName, ExecStream, Stockade, VERSION, findBinary };
