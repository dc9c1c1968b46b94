# SPDX-License-Identifier: MIT
"""Certificates for servers, of an authority that openssl makes for a test."""

import os
import shutil
import subprocess


def _openssl(*arguments):
    done = subprocess.run(['openssl', *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"openssl {' '.join(arguments)}: {done.stdout}")


_KEY = ('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes')


class Authority:
    """Its own certificate is the file `path`."""

    def __init__(self, folder, name):
        self.base, self.name = os.path.join(folder, name), name
        self.path = f'{self.base}.crt'
        _openssl('req', '-x509', *_KEY, '-keyout', f'{self.base}.key', '-out', self.path, '-days', '2',
                 '-subj', f'/CN=authority {name}')

    def sign(self, address, owner):
        """(certificate, key) of a server at an IP address that runs as this user."""
        base = f'{self.base}-{address}'
        with open(f'{base}.ext', 'w', encoding='ascii') as file:
            file.write(f'subjectAltName=IP:{address}\n')
        _openssl('req', *_KEY, '-keyout', f'{base}.key', '-out', f'{base}.csr', '-subj', f'/CN={address}')
        _openssl('x509', '-req', '-in', f'{base}.csr', '-CA', self.path, '-CAkey', f'{self.base}.key',
                 '-CAcreateserial', '-days', '2', '-extfile', f'{base}.ext', '-out', f'{base}.crt')
        if os.getuid() == 0:
            shutil.chown(f'{base}.key', owner)
        return f'{base}.crt', f'{base}.key'
