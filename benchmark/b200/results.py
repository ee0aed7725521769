# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results on disk: a line of JSON for each step as soon as it has ended; of these results.json, and a zip to send back."""

import json
import os
import zipfile

JOURNAL, TABLE, PAGE, ARCHIVE, LOGS = "journal.jsonl", "results.json", "results.md", "results.zip", "logs"
LARGEST_LOG = 1 << 20


class Results:
    def __init__(self, directory):
        self.directory = directory
        os.makedirs(os.path.join(directory, LOGS), exist_ok=True)
        self.entries = []
        if os.path.exists(self.path(JOURNAL)):
            with open(self.path(JOURNAL), encoding="utf-8") as file:
                for line in file:
                    try:
                        self.entries.append(json.loads(line))
                    except ValueError:
                        pass  # a line that was being written when the machine went down

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def log(self, name):
        """Where a run of that name writes its outputs, for process.run."""
        return self.path(LOGS, name)

    def add(self, entry):
        self.entries.append(entry)
        with open(self.path(JOURNAL), "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def steps(self):
        """The last entry of each step: a later run may have added to an earlier one's."""
        return list({entry["step"]: entry for entry in self.entries if "step" in entry}.values())

    def facts(self):
        """What is known of the machine and of the pack."""
        return next((entry["facts"] for entry in reversed(self.entries) if "facts" in entry), {})

    def finish(self, page):
        """The table, the page and the archive of all that there is."""
        with open(self.path(TABLE), "w", encoding="utf-8") as file:
            json.dump({"facts": self.facts(), "steps": self.steps()}, file, indent=1)
        with open(self.path(PAGE), "w", encoding="utf-8") as file:
            file.write(page)
        with zipfile.ZipFile(self.path(ARCHIVE), "w", zipfile.ZIP_DEFLATED) as archive:
            for name in (TABLE, PAGE, JOURNAL):
                archive.write(self.path(name), name)
            for name in sorted(os.listdir(self.path(LOGS))):
                with open(self.path(LOGS, name), "rb") as file:
                    archive.writestr("%s/%s" % (LOGS, name), file.read(LARGEST_LOG))
