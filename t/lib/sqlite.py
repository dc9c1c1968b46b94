# SPDX-License-Identifier: MIT
"""SQLite's databases in a folder, asked as those of a server are."""

import sqlite3


class Sqlite:
    def __init__(self, folder):
        self.folder = folder

    def connection(self, database):
        return dict(driver='sqlite', database=f'{self.folder}/{database}.db')

    def database(self, name):
        return name

    def sql(self, text, database):
        db = sqlite3.connect(f'{self.folder}/{database}.db')
        try:
            return db.execute(text).fetchall()
        finally:
            db.close()
