// Serves a PouchDB in memory as CouchDB does, for the tests: prints its address on one line, and ends when its standard
// input does, so that it never outlives the test run that started it.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const express = require("express");
const serving = require("express-pouchdb");
const PouchDB = require("pouchdb");
PouchDB.plugin(require("pouchdb-adapter-memory"));

// Some requests make it throw where nobody catches: that answer is lost then, and the server stays.
process.on("uncaughtException", (error) => console.error(error));

// Without the parts that write a configuration and a log beside wherever it was started.
const app = express().use(serving(PouchDB.defaults({ adapter: "memory" }), { mode: "minimumForPouchDB" }));
const server = app.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.on("end", () => process.exit(0)).resume();
